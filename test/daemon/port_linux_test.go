package daemon

import (
	"errors"
	"net"
	"syscall"
	"testing"
)

// TestPortsDiffer checks that two ports of one process differ even while nothing listens on them: a
// broker may listen on the first one only after the second one was chosen.
func TestPortsDiffer(t *testing.T) {
	seen := map[int]bool{}
	for range 200 {
		port, err := FreePort()
		if err != nil {
			t.Fatal(err)
		}
		if seen[port] {
			t.Fatalf("port %d was given twice", port)
		}
		seen[port] = true
	}
}

// TestPortIsFreeOnAllAddresses checks that no connection can have the port, from whatever address
// of the loopback network: RabbitMQ refuses to start if one has.
func TestPortIsFreeOnAllAddresses(t *testing.T) {
	port, err := FreePort()
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2), Port: port}}
	if c, err := from.Dial("tcp", ln.Addr().String()); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("dial from a reserved port: %v", err)
		if err == nil {
			c.Close()
		}
	}
}
