package etcd

import (
	"context"
	"net"
	"sync"

	"fiveways/internal/protocol"
)

// handOver is a net.Listener for a server that wants to accept for itself.
type handOver struct {
	conns chan net.Conn
	over  context.Context
	end   context.CancelFunc
}

func newHandOver() *handOver {
	h := &handOver{conns: make(chan net.Conn)}
	h.over, h.end = context.WithCancel(context.Background())
	return h
}

// Accept waits for a connection.
func (h *handOver) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.over.Done():
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (h *handOver) Close() error {
	h.end()
	return nil
}

// Addr is nowhere: the connections come from a real listener.
func (h *handOver) Addr() net.Addr { return &net.TCPAddr{} }

// session is a session that gives nc to the server. Draining it is left to the server, which drains all: drain tells it to, and does not wait.
func (h *handOver) session(nc net.Conn, drain func()) protocol.Session {
	return &handedOver{Conn: nc, to: h, drain: drain, closed: make(chan struct{})}
}

// handedOver is a connection that tells when it is closed.
type handedOver struct {
	net.Conn
	to     *handOver
	drain  func()
	once   sync.Once
	closed chan struct{}
}

// Serve gives the connection away and returns when it is closed.
func (c *handedOver) Serve() {
	select {
	case c.to.conns <- c:
		<-c.closed
	case <-c.to.over.Done():
		c.Close()
	}
}

// Drain tells the server to drain.
func (c *handedOver) Drain() { c.drain() }

// Kill closes the socket.
func (c *handedOver) Kill() { c.Close() }

func (c *handedOver) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() { close(c.closed) })
	return err
}
