// Package jwsoracle compares packages jws and jwk with github.com/go-jose/go-jose, an independent implementation of
// JOSE: signatures made by one verify with the other, keys travel both ways, and whatever ours accepts it accepts too.
package jwsoracle
