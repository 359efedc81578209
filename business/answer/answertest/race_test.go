//go:build race

package answertest_test

const raceEnabled = true
