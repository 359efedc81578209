//go:build race

package cli

// raceDetector makes scrypt ten times slower; what only repeats it is left to the run without the detector.
const raceDetector = true
