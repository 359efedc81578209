//go:build !linux

package dataset

// replaceDir puts the folder fresh in the place of old.
func replaceDir(fresh, old string) error { return replaceInTwoSteps(fresh, old) }
