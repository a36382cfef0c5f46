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

	MaxMessageSize         int64         // bytes of a message body [128 MiB]; a message of the protocol has twice the room, for quoting
	IdleTransactionTimeout time.Duration // a session idle in a transaction for this long ends, unless it sets another; 0 = never

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
	quiet   *slog.Logger // for what clients can cause that have not logged in
	conns   registry
	loans   loans.Manager // no other protocol waits for loans with something in hand
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

// lastCall is the part of the time of a drain that is left for goodbyes to those whose transactions
// did not end.
const lastCall = 8

// Drain stops accepting, ends the sessions that are idle, and the others when their transactions
// end. Shortly before the end of ctx the rest is told to go, and what is left at its end is closed
// by force. All of them are told 57P01. When it returns no connection is left.
func (s *Server) Drain(ctx context.Context) error {
	if end, ok := ctx.Deadline(); ok {
		left := time.Until(end)
		t := time.AfterFunc(left-left/lastCall, s.conns.endAll)
		defer t.Stop()
	}
	return s.Edge.Drain(ctx)
}
