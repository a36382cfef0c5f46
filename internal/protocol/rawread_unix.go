//go:build unix

package protocol

import "syscall"

// canReadRaw is true: rawRead works.
const canReadRaw = true

// rawRead performs one non-blocking read of a socket.
func rawRead(fd uintptr, b []byte) (int, error) {
	for {
		n, err := syscall.Read(int(fd), b)
		if err != syscall.EINTR {
			return n, err
		}
	}
}
