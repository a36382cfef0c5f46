package vfs

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
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

// writeback returns the errors of earlier writes, because Datasync does not return them again.
func writeback(f *os.File, from, to int64) error {
	fd := int(f.Fd())
	err := syscall.SyncFileRange(fd, from, to-from, unix.SYNC_FILE_RANGE_WRITE)
	if err == nil && from > 0 {
		err = syscall.SyncFileRange(fd, 0, from, unix.SYNC_FILE_RANGE_WAIT_BEFORE)
	}
	switch err {
	case syscall.EIO, syscall.ENOSPC, syscall.EDQUOT:
		return err
	}
	return nil // the system may refuse the call, which is only a hint
}
