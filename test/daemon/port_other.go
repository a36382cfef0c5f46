//go:build !linux

package daemon

import (
	"fmt"
	"net"
)

// FreePort returns an unused port of 127.0.0.1. Another program may take it before a server does,
// which then exits.
func FreePort() (int, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("free port: %w", err)
	}
	defer ln.Close()
	return ln.Addr().(*net.TCPAddr).Port, nil
}
