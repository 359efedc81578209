// Package xppage holds the script of the registry's verify page to the vectors of tampered documents: the assets as they are served, run in Node, must find
// what package business finds.
package xppage
