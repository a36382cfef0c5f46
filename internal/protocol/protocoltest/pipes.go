package protocoltest

import (
	"net"

	"fiveways.dev/fiveways/internal/protocol"
)

// NewPipes returns a listener whose connections are pipes in memory, of clients on this machine. A
// server in a bubble of testing/synctest can serve it: its time limits pass at once, and only when
// nothing else can happen.
func NewPipes() *protocol.Pipes {
	loopback := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}
	return protocol.NewPipes(loopback, func() net.Addr { return loopback })
}
