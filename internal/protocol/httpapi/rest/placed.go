package rest

import (
	"context"
	"net"
	"sync"
	"sync/atomic"

	"fiveways/internal/protocol"
)

// placed is a connection that has one of the node's places and gives it back. It is shown to operators, and counts what goes over it.
type placed struct {
	net.Conn
	client  *protocol.Client
	release func()
}

// lastConn numbers connections that no protocol.Edge has numbered, far from its numbers.
var lastConn atomic.Uint64

const firstConn = 1 << 62

// place wraps a connection for which a place was taken.
func (s *Server) place(nc net.Conn) net.Conn {
	c := &placed{Conn: nc}
	c.client = s.clients.Enter(nc, firstConn+lastConn.Add(1), s.protocol, c)
	c.release = sync.OnceFunc(func() {
		c.client.Leave()
		s.limit.Release()
	})
	return c
}

func (c *placed) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.client.In.Add(uint64(n))
	return n, err
}

func (c *placed) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.client.Out.Add(uint64(n))
	return n, err
}

// Close closes the socket and gives the place back.
func (c *placed) Close() error {
	c.release()
	return c.Conn.Close()
}

// End implements protocol.Part: HTTP has no word for why.
func (c *placed) End(string) { c.Close() }

type clientKey struct{}

// withClient leads from a request to the connection that it came over.
func withClient(ctx context.Context, nc net.Conn) context.Context {
	if c, ok := nc.(*placed); ok {
		ctx = context.WithValue(ctx, clientKey{}, c.client)
	}
	return ctx
}

// clientOf is the connection of a request; nil when it came over none.
func clientOf(ctx context.Context) *protocol.Client {
	c, _ := ctx.Value(clientKey{}).(*protocol.Client)
	return c
}
