//go:build linux || darwin || freebsd

package app

import "syscall"

// freeSpace is the number of bytes this user may still write below a folder.
func freeSpace(dir string) (uint64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return uint64(st.Bavail) * uint64(st.Bsize), nil
}
