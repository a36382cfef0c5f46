package pgwire

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/loans"
	"fiveways.dev/fiveways/internal/protocol"
)

// Options configure a Server. A zero value means the default in brackets.
type Options struct {
	protocol.Shared

	MaxMessageSize         int64         // bytes of a message body [128 MiB]; a message of the protocol may be twice as large, to allow for quoting
	IdleTransactionTimeout time.Duration // ends a session idle in a transaction for this long, unless it sets another; 0 = never

	LoginTimeout time.Duration // from accept to the end of the login [60 s]
}

func (o Options) withDefaults(b *broker.Broker) Options {
	o.Shared = o.Shared.WithDefaults(b, time.Second)
	o.MaxMessageSize = cmp.Or(o.MaxMessageSize, 128<<20)
	o.LoginTimeout = cmp.Or(o.LoginTimeout, time.Minute)
	return o
}

// Server serves connections of PostgreSQL clients in front of one broker.
type Server struct {
	*protocol.Edge

	broker  *broker.Broker
	o       Options
	quiet   *slog.Logger // for events that clients can cause before they log in
	conns   registry
	loans   loans.Manager // only this protocol waits for loans while it holds some
	started time.Time
	open    opener
}

// New returns a server; Serve starts it.
func New(b *broker.Broker, o Options) *Server {
	s := &Server{broker: b, o: o.withDefaults(b), started: time.Now()}
	s.quiet = protocol.Sparse(s.o.Log)
	s.open = s.openSession
	s.conns.byPID = map[uint32]*conn{}
	s.Edge = protocol.NewEdge("sql", s.o.Log, func(nc net.Conn, id uint64) protocol.Session { return newConn(s, nc, id) })
	return s
}

// lastCall is the fraction of the drain time, one part in 8, that is reserved for telling
// connections with open transactions to end.
const lastCall = 8

// Drain stops accepting connections and ends each session as soon as it has no open transaction.
// Shortly before the deadline of ctx it ends the remaining sessions, and at the deadline it closes
// the remaining connections by force. All clients receive 57P01. When Drain returns, no connection
// is left.
func (s *Server) Drain(ctx context.Context) error {
	if end, ok := ctx.Deadline(); ok {
		left := time.Until(end)
		t := time.AfterFunc(left-left/lastCall, s.conns.endAll)
		defer t.Stop()
	}
	return s.Edge.Drain(ctx)
}
