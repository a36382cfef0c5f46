//go:build unix

package protocol

import (
	"net"
	"syscall"
)

// openFiles returns how many files and connections this process may have open.
func openFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 1024
	}
	return int(min(limit.Cur, 1<<30))
}

// descriptor returns the file descriptor of a connection, or -1 if it is not known.
func descriptor(nc net.Conn) int {
	fd := -1
	if c, ok := nc.(syscall.Conn); ok {
		if raw, err := c.SyscallConn(); err == nil {
			raw.Control(func(number uintptr) { fd = int(number) }) //nolint:errcheck // then it is closed, and -1
		}
	}
	return fd
}
