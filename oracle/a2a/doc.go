// Package a2a holds the A2A binding of GIDP to other implementations: npm @a2a-js/sdk drives whole sessions over both bindings, npm http-message-signatures makes
// and verifies the signatures of requests, and npm @sd-jwt/core reads mandates.
package a2a
