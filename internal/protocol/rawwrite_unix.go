//go:build unix

package protocol

import (
	"errors"
	"syscall"
)

// canWriteRaw is true: rawWrite works.
const canWriteRaw = true

// rawWrite is one write to a socket that does not block.
func rawWrite(fd uintptr, b []byte) (int, error) {
	for {
		n, err := syscall.Write(int(fd), b)
		switch {
		case err == syscall.EINTR:
			continue
		case errors.Is(err, syscall.EAGAIN):
			return 0, nil
		}
		return max(n, 0), err
	}
}
