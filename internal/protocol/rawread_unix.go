//go:build unix

package protocol

import "syscall"

// canReadRaw is true: rawRead works.
const canReadRaw = true

// rawRead is one read of a socket that does not block.
func rawRead(fd uintptr, b []byte) (int, error) {
	for {
		n, err := syscall.Read(int(fd), b)
		if err != syscall.EINTR {
			return n, err
		}
	}
}
