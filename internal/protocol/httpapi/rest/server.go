package rest

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"fiveways.dev/fiveways/internal/protocol"
)

// Limits for connections, which any client may open.
const (
	headerPatience = 10 * time.Second
	idlePatience   = 2 * time.Minute
	maxHeaderBytes = 64 << 10
)

// patience is the timeout for reading a request and for writing its answer.
const patience = time.Minute

// ServerOptions configure a Server. A zero value means the default in brackets.
type ServerOptions struct {
	Protocol    string            // name of the protocol of connections that operators see [http]
	Operator    bool              // connections have all permissions without a login: a socket that only the broker's own OS user can open
	Clients     *protocol.Clients // registry of connections that operators see; nil: none
	Connections *protocol.Limit   // limit of connections, shared with other protocols [no limit]
	Patience    time.Duration     // timeout for reading a request and for writing its answer [1 min]
	Log         *slog.Logger      // [slog.Default()]
}

// Server serves an API to HTTP/1 clients. Over the network they log in with a name and a password
// (Basic).
type Server struct {
	*protocol.Edge
	http    *protocol.HTTP
	limit   *protocol.Limit
	clients *protocol.Clients
	ending  context.Context // done when Drain begins
	end     context.CancelFunc
	closed  func() error // closes http, once
}

// NewServer returns a server of an API. Call Serve to start it.
func NewServer(a *API, o ServerOptions) *Server {
	o.Log = cmp.Or(o.Log, slog.Default())
	o.Patience = cmp.Or(o.Patience, patience)
	s := &Server{limit: o.Connections, clients: o.Clients}
	s.ending, s.end = context.WithCancel(context.Background())
	var handler http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &Caller{Ending: s.ending, Operator: o.Operator, Peer: peerOf(r)}
		if conn := connOf(r.Context()); conn != nil {
			c.Client, c.conn = conn.client, conn
			r.TLS = c.Client.TLS // net/http sets it only for its own TLS connections
		}
		a.serve(w, r, c)
	})
	if !o.Operator {
		handler = a.noForeignPages(handler)
	}
	s.http = protocol.NewHTTP(&http.Server{
		Handler: handler, ReadHeaderTimeout: min(headerPatience, o.Patience), ReadTimeout: o.Patience, WriteTimeout: patience, IdleTimeout: idlePatience,
		MaxHeaderBytes: maxHeaderBytes, ConnContext: withConn, ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	})
	s.closed = sync.OnceValue(s.http.Close)
	name := cmp.Or(o.Protocol, "http")
	s.Edge = protocol.NewEdge(name, o.Log, func(nc net.Conn, id uint64) protocol.Session { return s.http.Session(s.place(nc, id, name)) })
	return s
}

// noForeignPages rejects requests of browsers on behalf of other sites' pages, which would use the
// login that the browser has for this one (CSRF).
func (a *API) noForeignPages(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		Write(w, http.StatusForbidden, Refusal{"access_refused", "Cross-origin requests are not allowed"})
	}))
	return cross.Handler(next)
}

// Drain stops accepting, ends requests that wait, answers the requests under way, and closes all
// connections. When ctx is done it closes them by force. It may be called again.
func (s *Server) Drain(ctx context.Context) error {
	s.end()
	return errors.Join(s.Edge.Drain(ctx), s.closed())
}

// Handler returns the handler for requests over the network, which require a login.
func (s *Server) Handler() http.Handler { return s.http.Handler() }
