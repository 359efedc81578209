//go:build !race

package gidpcheck

// rounds make 10,000 pairs of all differences together.
const rounds = 12
