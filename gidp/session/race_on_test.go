//go:build race

package session

// The race detector makes the search ten times slower and has nothing to find in a function without goroutines.
const raceEnabled = true
