package etcd

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	pbgw "go.etcd.io/etcd/api/v3/etcdserverpb/gw"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3election/v3electionpb"
	electiongw "go.etcd.io/etcd/server/v3/etcdserver/api/v3election/v3electionpb/gw"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3lock/v3lockpb"
	lockgw "go.etcd.io/etcd/server/v3/etcdserver/api/v3lock/v3lockpb/gw"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"

	"fiveways.dev/fiveways/internal/protocol"
)

// newGateway returns a handler that serves the services as JSON over HTTP, below /v3/ as in etcd
// 3.4 and later: POST with the request as JSON, keys and values in base64; streams answer with one
// object per line. Calls go to conn, from the address of the HTTP client and with its Authorization
// header as the token. A request, or all requests of a stream together, may have maxBytes.
func newGateway(conn grpc.ClientConnInterface, maxBytes int) http.Handler {
	mux := runtime.NewServeMux(runtime.WithRoutingErrorHandler(noRoute), runtime.WithMarshalerOption(runtime.MIMEWildcard, errorJSON{&runtime.HTTPBodyMarshaler{
		Marshaler: &runtime.JSONPb{
			MarshalOptions:   protojson.MarshalOptions{UseProtoNames: true},
			UnmarshalOptions: gatewayUnmarshal,
		},
	}}))
	ctx := context.Background()
	for _, err := range []error{
		pbgw.RegisterKVHandlerClient(ctx, mux, pb.NewKVClient(conn)),
		pbgw.RegisterWatchHandlerClient(ctx, mux, pb.NewWatchClient(conn)),
		pbgw.RegisterLeaseHandlerClient(ctx, mux, pb.NewLeaseClient(conn)),
		pbgw.RegisterClusterHandlerClient(ctx, mux, pb.NewClusterClient(conn)),
		pbgw.RegisterMaintenanceHandlerClient(ctx, mux, pb.NewMaintenanceClient(conn)),
		pbgw.RegisterAuthHandlerClient(ctx, mux, pb.NewAuthClient(conn)),
		lockgw.RegisterLockHandlerClient(ctx, mux, v3lockpb.NewLockClient(conn)),
		electiongw.RegisterElectionHandlerClient(ctx, mux, v3electionpb.NewElectionClient(conn)),
	} {
		if err != nil {
			panic(fmt.Sprintf("etcd: JSON gateway: %v", err)) // two services have the same path
		}
	}
	return noForeignPages(http.MaxBytesHandler(oldPaths(checkStreams(mux)), int64(maxBytes)))
}

// oldPaths maps the paths of etcd 3.3 to the current ones.
func oldPaths(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rest, old := strings.CutPrefix(r.URL.Path, "/v3beta/"); old {
			r = r.Clone(r.Context())
			r.URL.Path, r.URL.RawPath = "/v3/"+rest, ""
		}
		next.ServeHTTP(w, r)
	})
}

// noForeignPages rejects requests that a browser makes for a page of another origin. While access
// control is off, every process on this machine may do everything, but a page in a browser on this
// machine must not. (etcd does not check this.) A page can also reach this machine by a host name
// of its own. So the requested host must be an address or a name of this machine if the client is
// local and has no token.
func noForeignPages(next http.Handler) http.Handler {
	var cross http.CrossOriginProtection
	return cross.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Origin") != "" && r.Header.Get("Authorization") == "" && !protocol.IsPlainHost(r.Host) {
			http.Error(w, "the host "+r.Host+" is not this server's address", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	}))
}
