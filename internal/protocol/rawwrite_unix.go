//go:build unix

package protocol

import (
	"errors"
	"syscall"
)

// canWriteRaw is true: rawWrite works.
const canWriteRaw = true

// rawWrite performs one non-blocking write to a socket.
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
