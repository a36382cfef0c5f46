//go:build unix

package protocol

import (
	"io"
	"net"
	"syscall"
)

// firstByte waits for the first byte of a connection and leaves it unread. It returns the
// connection to use in place of nc.
func firstByte(nc net.Conn) (byte, net.Conn, error) {
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return readFirst(nc)
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return 0, nc, err
	}
	var b [1]byte
	var n int
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		for {
			if n, _, failed = syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT); failed != syscall.EINTR {
				return failed != syscall.EAGAIN
			}
		}
	})
	switch {
	case err != nil:
		return 0, nc, err
	case failed != nil:
		return 0, nc, failed
	case n == 0:
		return 0, nc, io.EOF
	}
	return b[0], nc, nil
}
