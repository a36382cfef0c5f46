package amqp

import (
	"cmp"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// Options configure a Server. A zero value means the default in brackets.
type Options struct {
	protocol.Shared

	Product  string // product name sent to clients ["Fiveways"]
	Version  string // RabbitMQ version sent to clients ["3.10.8"]
	Build    string // version of this broker sent to clients ["(devel)"]
	NodeName string // sent to clients as cluster_name ["fiveways"]

	FrameMax         uint32        // largest frame, in bytes; proposed to clients [131072]
	ChannelMax       uint16        // channels per connection [2047]
	ChannelConsumers int           // consumers per channel; 0 = no limit
	Heartbeat        time.Duration // proposed to clients, whole seconds; 0 = none
	MaxMessageSize   int64         // bytes of a message body [128 MiB]

	ConsumerTimeout       time.Duration // a delivery that is unsettled for this long returns to its queue; 0: never
	ConsumerTimeoutCloses bool          // and its channel is closed; otherwise its consumer is cancelled

	// Operator admits clients without a user name: they may do everything, and no limit counts
	// them. It is for a server that only this process can reach.
	Operator bool

	HandshakeTimeout time.Duration // from accept to connection.open [10 s]
}

func (o Options) withDefaults(b *broker.Broker) Options {
	o.Shared = o.Shared.WithDefaults(b, 3*time.Second)
	o.Product = cmp.Or(o.Product, "Fiveways")
	o.Version = cmp.Or(o.Version, "3.10.8")
	o.Build = cmp.Or(o.Build, "(devel)")
	o.NodeName = cmp.Or(o.NodeName, "fiveways")
	o.FrameMax = cmp.Or(o.FrameMax, 128<<10)
	o.FrameMax = max(o.FrameMax, amqpwire.MinFrameMax)
	o.ChannelMax = cmp.Or(o.ChannelMax, 2047)
	o.MaxMessageSize = cmp.Or(o.MaxMessageSize, 128<<20)
	o.HandshakeTimeout = cmp.Or(o.HandshakeTimeout, 10*time.Second)
	return o
}

// Server serves AMQP connections in front of one broker.
type Server struct {
	*protocol.Edge // Drain sends outstanding confirms, closes with 320 and waits for close-ok

	broker *broker.Broker
	o      Options
	quiet  *slog.Logger // for events that clients can cause without a login

	channels   atomic.Int64 // currently open
	assembling atomic.Int64 // bytes of incomplete bodies
}

// New returns a server; Serve starts it.
func New(b *broker.Broker, o Options) *Server {
	s := &Server{broker: b, o: o.withDefaults(b)}
	s.quiet = protocol.Sparse(s.o.Log)
	s.Edge = protocol.NewEdge("amqp", s.o.Log, func(nc net.Conn, id uint64) protocol.Session { return newConn(s, nc, id) })
	return s
}

// Channels returns the number of open channels.
func (s *Server) Channels() int64 { return s.channels.Load() }

// assemblyMessages is how many messages of the largest size may be incomplete at a time across all
// connections.
const assemblyMessages = 4

// assemble accounts for n more bytes of an incomplete body, and reports whether there is room for
// them.
func (s *Server) assemble(n int) bool {
	if s.assembling.Add(int64(n)) <= assemblyMessages*s.o.MaxMessageSize {
		return true
	}
	s.assembling.Add(-int64(n))
	return false
}
