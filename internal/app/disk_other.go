//go:build !linux && !darwin && !freebsd

package app

import "errors"

// Without a file system call that says it, the free space is unknown.
func freeSpace(string) (uint64, error) { return 0, errors.ErrUnsupported }
