package vfs

import (
	"os"
	"syscall"
)

// datasync does not sync time stamps, which saves a journal write if the size did not change.
func datasync(f *os.File) error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		if err != syscall.EINTR {
			return err
		}
	}
}
