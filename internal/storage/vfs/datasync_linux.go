package vfs

import (
	"os"
	"syscall"
)

// datasync leaves out the time stamps, which saves a journal write when the size did not change.
func datasync(f *os.File) error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		if err != syscall.EINTR {
			return err
		}
	}
}
