package resp

import (
	"cmp"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/protocol"
)

// Options configures a Server. For a zero value the default in brackets applies.
type Options struct {
	protocol.Shared

	Version        string // of this broker, for INFO
	NodeName       string // for INFO
	MaxMessageSize int64  // bytes of an argument [128 MiB]; twice that for a request
	MemoryLimit    int64  // bytes, for INFO and CONFIG
	Fsync          string // when the log is synced, for CONFIG: always, everysec or no

	LoginTimeout time.Duration // from accept until login, where one is needed [60 s]
}

func (o Options) withDefaults(b *broker.Broker) Options {
	o.Shared = o.Shared.WithDefaults(b, time.Second)
	o.MaxMessageSize = cmp.Or(o.MaxMessageSize, 128<<20)
	o.LoginTimeout = cmp.Or(o.LoginTimeout, time.Minute)
	return o
}

// Server serves connections of Redis clients in front of one broker.
type Server struct {
	*protocol.Edge // Drain answers all requests read; waits for messages end without an answer

	broker  *broker.Broker
	o       Options
	quiet   *slog.Logger // for events that clients can cause without a login
	hub     hub
	bridges bridges
	conns   registry

	processed atomic.Int64 // commands
	rejected  atomic.Int64 // connections refused because there were too many
	started   time.Time
}

// New returns a server; Serve starts it.
func New(b *broker.Broker, o Options) *Server {
	s := &Server{broker: b, o: o.withDefaults(b), started: time.Now()}
	s.quiet = protocol.Sparse(s.o.Log)
	s.hub.init()
	s.bridges.init(s)
	s.conns.byID = map[uint64]*conn{}
	s.Edge = protocol.NewEdge("redis", s.o.Log, func(nc net.Conn, id uint64) protocol.Session { return newConn(s, nc, id) })
	return s
}
