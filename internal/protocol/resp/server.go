package resp

import (
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"fiveways/internal/broker"
	"fiveways/internal/protocol"
	"fiveways/internal/semaphores"
)

// Options configure a Server. A zero value means the default in brackets.
type Options struct {
	Version        string // of this broker, for INFO
	NodeName       string // for INFO
	MaxMessageSize int64  // bytes of an argument [128 MiB]; a request has twice the room
	MemoryLimit    int64  // bytes, for INFO and CONFIG
	Fsync          string // when the log is synced, as Redis calls it, for CONFIG: always, everysec or no

	Semaphores *semaphores.Manager // of this broker; nil: there are none

	Logins       *protocol.Logins  // shared with other protocols [of its own]
	Clients      *protocol.Clients // where connections are shown to operators; nil: nowhere
	Connections  *protocol.Limit   // places for connections, shared with other protocols [no limit]
	LoginTimeout time.Duration     // from accept to the end of the login, where one is needed [60 s]
	LoginDelay   time.Duration     // before a refused login is answered [1 s]; negative = none
	Log          *slog.Logger      // [slog.Default()]
}

func (o Options) withDefaults() Options {
	if o.MaxMessageSize == 0 {
		o.MaxMessageSize = 128 << 20
	}
	if o.LoginTimeout == 0 {
		o.LoginTimeout = time.Minute
	}
	if o.LoginDelay == 0 {
		o.LoginDelay = time.Second
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

// Server serves connections of Redis clients in front of one broker.
type Server struct {
	*protocol.Edge // Drain has every connection answer what it has read; waits for messages end without one

	broker  *broker.Broker
	o       Options
	quiet   *slog.Logger // for what clients can cause that have not logged in
	hub     hub
	bridges bridges
	conns   registry

	processed atomic.Int64 // commands
	rejected  atomic.Int64 // connections, for there were too many
	started   time.Time
}

// New returns a server; Serve starts it.
func New(b *broker.Broker, o Options) *Server {
	s := &Server{broker: b, o: o.withDefaults(), started: time.Now()}
	s.quiet = protocol.Sparse(s.o.Log)
	if s.o.Logins == nil {
		s.o.Logins = protocol.NewLogins(b, nil)
	}
	s.hub.init()
	s.bridges.init(s)
	s.conns.byID = map[uint64]*conn{}
	s.Edge = protocol.NewEdge("redis", s.o.Log, func(nc net.Conn, id uint64) protocol.Session { return newConn(s, nc, id) })
	return s
}
