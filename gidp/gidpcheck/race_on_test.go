//go:build race

package gidpcheck

// rounds are few, because the race detector makes a pair ten times slower.
const rounds = 1
