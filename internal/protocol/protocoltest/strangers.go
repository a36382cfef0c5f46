package protocoltest

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/protocol"
)

// patience is how long a server may take to do what these tests wait for.
const patience = 20 * time.Second

// Few is a registry in which one connection of an address may be that has not logged in.
func Few() *protocol.Clients { return protocol.NewClientsFor(4) }

// Strangers checks that connections that never log in do not keep others out. The server at addr
// has a registry of Few, and room (protocol.Limit) for one connection. login connects and logs in,
// and the function that it returns makes a request over that connection.
func Strangers(t *testing.T, addr string, login func() (ask func() error)) {
	t.Helper()
	ended := make(chan error, 2)
	for range 2 { // one has to go for the other
		nc := Silent(t, addr)
		go func() { ended <- Ended(nc) }()
	}
	if err := <-ended; err != nil {
		t.Errorf("two connections without a login are there: %v", err)
	}
	ask := login()
	for range 3 {
		Silent(t, addr)
	}
	if err := ask(); err != nil {
		t.Errorf("connections without a login came, and one that has logged in suffers: %v", err)
	}
}

// Silent is a connection that says nothing.
func Silent(t *testing.T, addr string) net.Conn {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	return nc
}

// Ended waits until the server ends a connection. An error says that it did not.
func Ended(nc net.Conn) error {
	nc.SetReadDeadline(time.Now().Add(patience)) //nolint:errcheck // the read tells
	if _, err := io.Copy(io.Discard, nc); errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return nil
}
