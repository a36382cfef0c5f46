package etcd

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

var gatewayUnmarshal = protojson.UnmarshalOptions{DiscardUnknown: true}

// streamRequests returns a request of the gateway's streams, by path.
var streamRequests = map[string]func() proto.Message{
	"/v3/watch":           func() proto.Message { return new(pb.WatchRequest) },
	"/v3/lease/keepalive": func() proto.Message { return new(pb.LeaseKeepAliveRequest) },
}

// checkStreams answers a stream whose first request cannot be decoded with an error, as etcd up to
// 3.5. The generated code would wait for an answer to it.
func checkStreams(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request, is := streamRequests[r.URL.Path]
		if !is || r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		var read bytes.Buffer
		var first json.RawMessage
		err := json.NewDecoder(io.TeeReader(r.Body, &read)).Decode(&first)
		if err == nil {
			err = gatewayUnmarshal.Unmarshal(first, request())
		}
		if err != nil && !errors.Is(err, io.EOF) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusInternalServerError)
			json.NewEncoder(w).Encode(callError{err.Error(), err.Error(), int32(codes.Unknown)}) //nolint:errcheck // the client has left
			return
		}
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(&read, r.Body), r.Body}
		next.ServeHTTP(w, r)
	})
}
