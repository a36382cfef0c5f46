package protocol

import (
	"context"
	"net"
	"sync"
)

// Inlet is a listener whose connections this process gives it. Any goroutine may call its methods.
type Inlet struct {
	addr   net.Addr
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// NewInlet returns a listener without connections, at an address that it only tells.
func NewInlet(addr net.Addr) *Inlet {
	return &Inlet{addr: addr, conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Give has a connection accepted. The error is net.ErrClosed once the listener is closed, or that
// of ctx; the connection is still the caller's then.
func (l *Inlet) Give(ctx context.Context, nc net.Conn) error {
	select {
	case l.conns <- nc:
		return nil
	case <-l.closed:
		return net.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Accept implements net.Listener.
func (l *Inlet) Accept() (net.Conn, error) {
	select {
	case nc := <-l.conns:
		return nc, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *Inlet) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *Inlet) Addr() net.Addr { return l.addr }

// Lent is a connection whose lender is told when it is closed.
type Lent struct {
	net.Conn
	once   sync.Once
	closed chan struct{}
}

// Lend returns a connection to be closed by somebody else.
func Lend(nc net.Conn) *Lent { return &Lent{Conn: nc, closed: make(chan struct{})} }

// Close implements net.Conn.
func (c *Lent) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// CloseWrite tells the other end that nothing more comes, where that can be told.
func (c *Lent) CloseWrite() error { return CloseWrite(c.Conn) }

// Closed is closed with the connection.
func (c *Lent) Closed() <-chan struct{} { return c.closed }
