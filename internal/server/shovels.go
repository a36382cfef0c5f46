package server

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"fiveways/internal/broker"
	"fiveways/internal/config"
	"fiveways/internal/protocol/amqp"
	"fiveways/internal/protocol/httpapi"
	"fiveways/internal/shovel/dynamic"
)

// shovels run inside the broker. They connect to it as ordinary AMQP clients, over private pipes,
// so that they run where AMQP is off, too.
type shovels struct {
	manager *dynamic.Manager
	inside  *amqp.Server
	pipes   *pipes
	served  sync.WaitGroup
}

func newShovels(b *broker.Broker, cfg config.Config, c common) *shovels {
	o := amqpOptions(cfg, c)
	o.Operator, o.Connections, o.ConsumerTimeout = true, nil, 0
	s := &shovels{inside: amqp.New(b, o), pipes: newPipes()}
	s.manager = dynamic.NewManager(b, dynamic.Options{
		Local: s.pipes.dial, ClusterName: func() string { return httpapi.ClusterName(b, cfg.NodeName) }, Log: c.Log,
	})
	return s
}

func (s *shovels) start() {
	s.served.Go(func() { s.inside.Serve(s.pipes) }) //nolint:errcheck // pipes do not fail
	s.manager.Start()
}

func (s *shovels) stop(ctx context.Context) error {
	s.manager.Stop()
	err := s.inside.Drain(ctx)
	s.served.Wait()
	return err
}

// pipes is a listener that only this process reaches.
type pipes struct {
	conns chan net.Conn
	shut  chan struct{}
	once  sync.Once
	last  atomic.Uint64
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), shut: make(chan struct{})} }

// dial connects to the accepting side.
func (p *pipes) dial(ctx context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	at := inside(fmt.Sprintf("inside:%d", p.last.Add(1)))
	select {
	case p.conns <- pipe{far, at}:
		return near, nil
	case <-p.shut:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.shut:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.shut) })
	return nil
}

// Addr implements net.Listener.
func (p *pipes) Addr() net.Addr { return inside("inside") }

// pipe is one end of a connection within this process, with an address that tells it from others.
type pipe struct {
	net.Conn
	from inside
}

func (p pipe) RemoteAddr() net.Addr { return p.from }
func (p pipe) LocalAddr() net.Addr  { return inside("inside") }

// inside is an address within this process.
type inside string

func (inside) Network() string  { return "inside" }
func (a inside) String() string { return string(a) }
