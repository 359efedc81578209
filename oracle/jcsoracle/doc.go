// Package jcsoracle compares package jcs with github.com/gowebpki/jcs, an independent implementation of RFC 8785.
//
// They must agree byte for byte on everything package jcs accepts. The other way round the oracle accepts more: it
// rounds numbers and nests deeper.
package jcsoracle
