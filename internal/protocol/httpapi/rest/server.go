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

	"fiveways/internal/protocol"
)

// Limits of connections, which anybody may open.
const (
	headerPatience = 10 * time.Second
	idlePatience   = 2 * time.Minute
	maxHeaderBytes = 64 << 10
)

// patience is how long a request may take to come in, and its answer to go out.
const patience = time.Minute

// ServerOptions configure a Server. A zero value means the default in brackets.
type ServerOptions struct {
	Protocol    string            // as which connections are shown to operators [http]
	Operator    bool              // whoever connects may do everything, without a login: a socket that only the broker's own user can open
	Clients     *protocol.Clients // where connections are shown to operators; nil: nowhere
	Connections *protocol.Limit   // places for connections, shared with other protocols [no limit]
	Patience    time.Duration     // how long a request may take to come in, and its answer to go out [1 min]
	Log         *slog.Logger      // [slog.Default()]
}

// Server serves an API to clients of HTTP/1. Over the network they log in with a name and a password (Basic).
type Server struct {
	http     http.Server
	limit    *protocol.Limit
	clients  *protocol.Clients
	protocol string
	ending   context.Context // over with Drain
	end      context.CancelFunc

	mu    sync.Mutex
	fresh map[net.Conn]struct{} // guarded by mu: connections that have sent no request yet
}

// NewServer returns a server of an API; Serve starts it.
func NewServer(a *API, o ServerOptions) *Server {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Patience == 0 {
		o.Patience = patience
	}
	s := &Server{limit: o.Connections, clients: o.Clients, protocol: cmp.Or(o.Protocol, "http"), fresh: map[net.Conn]struct{}{}}
	s.ending, s.end = context.WithCancel(context.Background())
	var handler http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &Caller{Ending: s.ending, Operator: o.Operator, Peer: peerOf(r)}
		if conn := connOf(r.Context()); conn != nil {
			c.Client, c.conn = conn.client, conn
			r.TLS = c.Client.TLS // net/http looks for it in connections only that it has made of TLS itself
		}
		a.serve(w, r, c)
	})
	if !o.Operator {
		handler = a.noForeignPages(handler)
	}
	s.http = http.Server{
		Handler: handler, ReadHeaderTimeout: min(headerPatience, o.Patience), ReadTimeout: o.Patience, WriteTimeout: patience, IdleTimeout: idlePatience,
		MaxHeaderBytes: maxHeaderBytes, ConnState: s.follow, ConnContext: withConn, ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
	return s
}

// noForeignPages refuses what a browser does for a page from elsewhere with the login that it has for this one.
func (a *API) noForeignPages(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		Write(w, http.StatusForbidden, Refusal{"access_refused", "A page from elsewhere may not do that"})
	}))
	return cross.Handler(next)
}

// Serve accepts connections on l until Drain, or until l is closed.
func (s *Server) Serve(l net.Listener) error {
	err := s.http.Serve(&counted{l, s})
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Drain stops accepting, ends what waits, answers the requests under way, and closes all connections; at the end of ctx by force. It may be called
// again.
func (s *Server) Drain(ctx context.Context) error {
	s.end()
	s.http.SetKeepAlivesEnabled(false)
	s.closeFresh()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.http.Close())
	}
	return err
}

// follow keeps account of connections that have sent nothing yet: browsers open some ahead, and a Shutdown would wait for them.
func (s *Server) follow(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state != http.StateNew {
		delete(s.fresh, c)
		return
	}
	s.fresh[c] = struct{}{}
	if s.ending.Err() != nil {
		c.Close()
	}
}

func (s *Server) closeFresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.fresh {
		c.Close()
	}
}

// counted is a listener whose connections operators see.
type counted struct {
	net.Listener
	srv *Server
}

func (l *counted) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.srv.place(c), nil
}

// Handler answers requests as those that come over the network: a login is asked for.
func (s *Server) Handler() http.Handler { return s.http.Handler }
