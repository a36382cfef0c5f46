package etcd

import (
	"io"
	"net/http"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
)

// longBodies are the paths whose request bodies may have no end: the client sends messages over
// time.
var longBodies = map[string]bool{"/v3/watch": true, "/v3/lease/keepalive": true}

// bodies limits what the JSON gateway does before it knows the caller. A request without a login
// must be short, and net/http's timeouts apply to it and to its answer. For a request with a login
// only the body is limited: its answer may wait for other clients, or have no end.
func (s *Server) bodies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer next.ServeHTTP(w, r)
		if !s.showsLogin(r) {
			r.Body = http.MaxBytesReader(w, r.Body, strangerBody)
			return
		}
		// These calls fail only if the connection is closed: then it needs no deadline.
		conn := http.NewResponseController(w)
		_ = conn.SetWriteDeadline(time.Time{})
		whole := func() { _ = conn.SetReadDeadline(time.Time{}) }
		if r.Body == http.NoBody || longBodies[strings.Replace(r.URL.Path, "/v3beta/", "/v3/", 1)] {
			whole()
			return
		}
		r.Body = &timedBody{r.Body, whole}
	})
}

// showsLogin reports whether a request has a login, or needs none.
func (s *Server) showsLogin(r *http.Request) bool {
	p, ok := peer.FromContext(r.Context())
	if !ok {
		return false
	}
	md := metadata.MD{
		rpctypes.TokenFieldNameGRPC:    r.Header.Values(metadataHeader + rpctypes.TokenFieldNameGRPC),
		rpctypes.TokenFieldNameSwagger: r.Header.Values("Authorization"),
	}
	who, err := s.identifyToken(tokenIn(md), p.Addr)
	return err == nil && who.user != ""
}

// metadataHeader is the prefix of headers that the gateway passes on as metadata of the call.
const metadataHeader = "Grpc-Metadata-"

// timedBody is a body that calls whole when it has arrived completely.
type timedBody struct {
	io.ReadCloser
	whole func()
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.whole()
	}
	return n, err
}
