package daemon

import (
	"fmt"
	"syscall"
)

// FreePort returns a port that nothing gets, as long as this process lives, unless it asks for it
// by number. Until a server listens on it, and after the server's end, connections are refused. The
// server must set SO_REUSEADDR, as nearly all do. It may listen on one address or on all: the port
// is not in use on any, not even by a connection from another address of the loopback network.
func FreePort() (int, error) {
	port, err := reserve()
	if err != nil {
		return 0, fmt.Errorf("free port: %w", err)
	}
	return port, nil
}

// reserve binds a socket that does not listen, and leaves it open.
func reserve() (port int, err error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			syscall.Close(fd) //nolint:errcheck // it is not used
		}
	}()
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return 0, err
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{}); err != nil {
		return 0, err
	}
	at, err := syscall.Getsockname(fd)
	if err != nil {
		return 0, err
	}
	return at.(*syscall.SockaddrInet4).Port, nil
}
