package etcd

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"google.golang.org/grpc/peer"

	"fiveways/internal/protocol"
)

// Limits of connections of HTTP/1, which anybody may open.
const (
	headerPatience  = 10 * time.Second
	requestPatience = time.Minute // for a request to come in, and for an answer to go out, before a login
	idlePatience    = 2 * time.Minute
	maxHeaderBytes  = 64 << 10

	// strangerBody is how long the body of a request without a login may be.
	strangerBody = 64 << 10
)

// webServer serves what comes as HTTP/1.
type webServer struct {
	http  http.Server
	mux   *http.ServeMux
	conns *handOver
	drain func() // closes connections as they have answered; does not wait
	ended chan error
}

func newWebServer(s *Server) *webServer {
	w := &webServer{mux: http.NewServeMux(), conns: newHandOver(), ended: make(chan error, 1)}
	w.mux.HandleFunc("/version", serveVersion)
	w.mux.HandleFunc("/health", s.serveHealth)
	s.installChecks(w.mux)
	w.mux.Handle("/metrics", promhttp.HandlerFor(s.metrics, promhttp.HandlerOpts{}))
	w.http = http.Server{
		Handler: w.mux, ReadHeaderTimeout: headerPatience, ReadTimeout: s.o.Patience, WriteTimeout: s.o.Patience, IdleTimeout: idlePatience, MaxHeaderBytes: maxHeaderBytes,
		ConnContext: withPeer, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	w.drain = sync.OnceFunc(func() { go func() { _ = w.http.Shutdown(context.Background()) }() }) // what it waits for, Close ends
	go func() { w.ended <- w.http.Serve(w.conns) }()
	return w
}

// session serves one connection.
func (w *webServer) session(nc net.Conn) protocol.Session { return w.conns.session(nc, w.drain) }

// Close closes what is left.
func (w *webServer) Close() error {
	err := w.http.Close()
	if end := <-w.ended; !errors.Is(end, http.ErrServerClosed) {
		err = errors.Join(err, end)
	}
	return err
}

// withPeer says in the context of requests who makes them, as it stands in that of calls.
func withPeer(ctx context.Context, nc net.Conn) context.Context {
	return peer.NewContext(ctx, &peer.Peer{Addr: nc.RemoteAddr(), LocalAddr: nc.LocalAddr()})
}

// onlyGet answers other methods as etcd does, and tells whether it was GET.
func onlyGet(w http.ResponseWriter, r *http.Request) bool {
	if r.Method == http.MethodGet {
		return true
	}
	w.Header().Set("Allow", http.MethodGet)
	http.Error(w, "Method Not Allowed", http.StatusMethodNotAllowed)
	return false
}

func serveVersion(w http.ResponseWriter, r *http.Request) {
	if !onlyGet(w, r) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	writeJSON(w, struct {
		Server  string `json:"etcdserver"`
		Cluster string `json:"etcdcluster"`
	}{etcdVersion, clusterVersion})
}

func writeJSON(w http.ResponseWriter, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Write(b) //nolint:errcheck // a client that is gone needs no answer
}
