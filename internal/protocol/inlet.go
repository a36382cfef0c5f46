package protocol

import (
	"context"
	"net"
	"sync"
)

// Inlet is a listener for connections from this process. Any goroutine may call its methods.
type Inlet struct {
	addr   net.Addr
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// NewInlet returns a listener that reports addr as its address.
func NewInlet(addr net.Addr) *Inlet {
	return &Inlet{addr: addr, conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Give passes a connection to Accept. After an error, the connection still belongs to the caller.
// It returns net.ErrClosed if the listener is closed, or the error of ctx.
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

// Lent is a connection that notifies its lender when it is closed.
type Lent struct {
	net.Conn
	once   sync.Once
	closed chan struct{}
}

// Lend wraps a connection that other code will close.
func Lend(nc net.Conn) *Lent { return &Lent{Conn: nc, closed: make(chan struct{})} }

// Close implements net.Conn.
func (c *Lent) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// NetConn returns the connection that is lent.
func (c *Lent) NetConn() net.Conn { return c.Conn }

// CloseWrite closes the sending side if the connection supports that.
func (c *Lent) CloseWrite() error { return CloseWrite(c.Conn) }

// Closed returns a channel that is closed with the connection.
func (c *Lent) Closed() <-chan struct{} { return c.closed }
