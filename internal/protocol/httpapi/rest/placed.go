package rest

import (
	"context"
	"net"
	"sync"

	"fiveways.dev/fiveways/internal/protocol"
)

// placed is a connection that operators can see and whose traffic is counted. With the first login
// it takes one of the node's connection places.
type placed struct {
	net.Conn
	client  *protocol.Client
	limit   *protocol.Limit
	release func()

	mu     sync.Mutex
	has    bool // has a place; guarded by mu
	closed bool // guarded by mu
}

// place wraps a connection.
func (s *Server) place(nc net.Conn, id uint64, protocol string) net.Conn {
	c := &placed{Conn: nc, limit: s.limit}
	c.client = s.clients.Enter(nc, id, protocol, c)
	c.release = sync.OnceFunc(func() {
		c.client.Leave()
		c.leave()
	})
	return c
}

// take takes a place for the connection unless it has one. It reports whether the connection has a
// place.
func (c *placed) take() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.has && !c.closed {
		c.has = c.limit.Acquire()
	}
	return c.has || c.closed
}

// leave releases the place.
func (c *placed) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.has {
		c.limit.Release()
	}
	c.has, c.closed = false, true
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

// Close closes the socket and releases the place.
func (c *placed) Close() error {
	c.release()
	return c.Conn.Close()
}

// End implements protocol.Part. HTTP cannot tell the client the reason.
func (c *placed) End(string) { c.Close() }

type connKey struct{}

// withConn stores the connection of a request in its context.
func withConn(ctx context.Context, nc net.Conn) context.Context {
	if c, ok := nc.(*protocol.HTTPConn).Conn.(*placed); ok {
		ctx = context.WithValue(ctx, connKey{}, c)
	}
	return ctx
}

// connOf returns the connection of a request, or nil if it came over none.
func connOf(ctx context.Context) *placed {
	c, _ := ctx.Value(connKey{}).(*placed)
	return c
}
