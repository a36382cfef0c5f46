package protocoltest

import (
	"context"
	"net"
	"sync"
)

// Pipes is a listener whose connections are pipes in memory. A server in a bubble of
// testing/synctest can serve it: its time limits pass at once, and only when nothing else can
// happen.
type Pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// NewPipes returns a listener without connections.
func NewPipes() *Pipes { return &Pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

// Dial connects to the server. The error is net.ErrClosed once it does not listen any more, or that
// of ctx.
func (p *Pipes) Dial(ctx context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- pipe{theirs}:
		return ours, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (p *Pipes) Accept() (net.Conn, error) {
	select {
	case nc := <-p.conns:
		return nc, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *Pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr implements net.Listener. Nothing listens there.
func (p *Pipes) Addr() net.Addr { return loopback }

var loopback = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}

// pipe is the server's end of a connection, whose client is on this machine.
type pipe struct{ net.Conn }

func (pipe) LocalAddr() net.Addr  { return loopback }
func (pipe) RemoteAddr() net.Addr { return loopback }
