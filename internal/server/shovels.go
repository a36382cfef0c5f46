package server

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/config"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/amqp"
	"fiveways.dev/fiveways/internal/shovel/dynamic"
)

// shovels are the shovels that run inside the broker. They connect to it as ordinary AMQP clients
// over private pipes, so they also run if AMQP is off.
type shovels struct {
	manager *dynamic.Manager
	inside  *amqp.Server
	pipes   *protocol.Pipes
	served  sync.WaitGroup
}

func newShovels(b *broker.Broker, cfg config.Config, c common) *shovels {
	o := amqpOptions(cfg, c)
	o.Operator, o.Connections, o.ConsumerTimeout = true, nil, 0
	s := &shovels{inside: amqp.New(b, o), pipes: newPipes()}
	s.manager = dynamic.NewManager(b, dynamic.Options{
		Local: s.pipes.Dial, ClusterName: func() string { return clusterName(b, cfg) }, Log: c.Log,
	})
	return s
}

func (s *shovels) start(lease protocol.Lease) {
	s.served.Go(func() { s.inside.Serve(lease.Listen(s.pipes)) }) //nolint:errcheck // pipes do not fail
	s.manager.Start()
}

func (s *shovels) stop(ctx context.Context) error {
	s.manager.Stop()
	err := s.inside.Drain(ctx)
	s.served.Wait()
	return err
}

// newPipes returns a listener that only this process can reach. Each connection has an address that
// distinguishes it from others.
func newPipes() *protocol.Pipes {
	var last atomic.Uint64
	return protocol.NewPipes(inside("inside"), func() net.Addr { return inside(fmt.Sprintf("inside:%d", last.Add(1))) })
}

// inside is an address within this process.
type inside string

func (inside) Network() string  { return "inside" }
func (a inside) String() string { return string(a) }
