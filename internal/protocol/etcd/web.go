package etcd

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"google.golang.org/grpc/peer"

	"fiveways.dev/fiveways/internal/protocol"
)

// Limits of HTTP/1 connections, which any client may open.
const (
	headerPatience  = 10 * time.Second
	requestPatience = time.Minute // to receive a request, and to send an answer, before a login
	idlePatience    = 2 * time.Minute
	maxHeaderBytes  = 64 << 10

	// strangerBody is the largest request body without a login.
	strangerBody = 64 << 10
)

// webServer serves HTTP/1.
type webServer struct {
	*protocol.HTTP
	mux *http.ServeMux
}

func newWebServer(s *Server) *webServer {
	w := &webServer{mux: http.NewServeMux()}
	w.mux.HandleFunc("/version", serveVersion)
	w.mux.HandleFunc("/health", s.serveHealth)
	s.installChecks(w.mux)
	w.mux.Handle("/metrics", promhttp.HandlerFor(s.metrics, promhttp.HandlerOpts{}))
	w.HTTP = protocol.NewHTTP(&http.Server{
		Handler: w.mux, ReadHeaderTimeout: headerPatience, ReadTimeout: s.o.Patience, WriteTimeout: s.o.Patience, IdleTimeout: idlePatience, MaxHeaderBytes: maxHeaderBytes,
		ConnContext: withPeer, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	})
	return w
}

// withPeer stores the client of a request in its context, as it is for gRPC calls.
func withPeer(ctx context.Context, nc net.Conn) context.Context {
	return peer.NewContext(ctx, &peer.Peer{Addr: nc.RemoteAddr(), LocalAddr: nc.LocalAddr()})
}

// onlyGet answers other methods as etcd does, and reports whether the method is GET.
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
	w.Write(b) //nolint:errcheck // nothing to do if the client is gone
}
