package protocol

import (
	"crypto/tls"
	"errors"
	"net"
	"sync/atomic"
	"syscall"
)

// Lease waits until it is certain that no other node leads, and returns true; or until this node
// has lost its leadership and all sessions have been abandoned, and returns false.
type Lease func() bool

// Listen returns a listener whose connections write nothing without the lease, so that an answer is
// never older than its request even if another node has become leader. A single node needs no
// lease: if l is nil, Listen returns ln.
func (l Lease) Listen(ln net.Listener) net.Listener {
	if l == nil {
		return ln
	}
	return &leasedListener{ln, l}
}

type leasedListener struct {
	net.Listener
	lease Lease
}

// Accept implements net.Listener.
func (l *leasedListener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &leased{Conn: nc, lease: l.lease}, nil
}

// leased is a connection that waits for the lease before each write. If this node has lost its
// leadership, the write fails and the connection is closed, unless the write is the farewell.
type leased struct {
	net.Conn
	lease    Lease
	farewell atomic.Bool
}

// may waits for the lease. It returns net.ErrClosed if the node has lost its leadership.
func (c *leased) may() error {
	if c.lease() || c.farewell.Load() {
		return nil
	}
	Socket(c.Conn).Close()
	return net.ErrClosed
}

// Write implements net.Conn.
func (c *leased) Write(b []byte) (int, error) {
	if err := c.may(); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

// Node implements Passed. It is 0 if the client connected to this node.
func (c *leased) Node() uint64 {
	if p, ok := c.Conn.(Passed); ok {
		return p.Node()
	}
	return 0
}

// CloseWrite closes the sending side if the connection supports that.
func (c *leased) CloseWrite() error { return CloseWrite(c.Conn) }

// ConnectionState returns the TLS state of the connection (StateOf).
func (c *leased) ConnectionState() tls.ConnectionState {
	state, _ := StateOf(c.Conn)
	return state
}

// SyscallConn is for code that reads and writes without waiting.
func (c *leased) SyscallConn() (syscall.RawConn, error) {
	sc, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil, err
	}
	return &leasedRaw{raw, c}, nil
}

type leasedRaw struct {
	syscall.RawConn
	conn *leased
}

// Write implements syscall.RawConn.
func (r *leasedRaw) Write(fn func(fd uintptr) bool) error {
	if err := r.conn.may(); err != nil {
		return err
	}
	return r.RawConn.Write(fn)
}

// Farewell lets later writes pass without a lease: the session is abandoned and only reports that.
func (c *leased) Farewell() { c.farewell.Store(true) }

// Farewell is called by the goroutine that writes to a connection before its last write, which only
// reports that the session is abandoned (Abandoner).
func Farewell(nc net.Conn) {
	if c, ok := nc.(interface{ Farewell() }); ok {
		c.Farewell()
	}
}
