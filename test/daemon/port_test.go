package daemon

import (
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"
)

// TestFreePort checks that a port is free until a server listens on it, and free again after that.
func TestFreePort(t *testing.T) {
	port, err := FreePort()
	if err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprint("127.0.0.1:", port)
	for range 3 {
		if _, err := net.Dial("tcp", address); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("nobody listens: %v", err)
		}
		ln, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		ln.Close()
	}
}
