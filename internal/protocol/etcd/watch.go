package etcd

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
)

const (
	// defaultProgressInterval is the silence after which a watcher gets a progress notification, if
	// it asked.
	defaultProgressInterval = 10 * time.Minute
	minProgressInterval     = 100 * time.Millisecond
	// watchRequestsAhead is how many requests of a stream are read ahead.
	watchRequestsAhead = 16
)

// watchOptions is what the watch service needs from the server.
type watchOptions struct {
	keys    func() mvcc.WatchableKV
	virtual virtualWatches
	header  func(revision int64) *pb.ResponseHeader // header of a response
	// permit returns the identity of the caller of a watch, or the gRPC error that refuses it. For
	// virtual keys the families decide.
	permit   func(ctx context.Context, r *pb.WatchCreateRequest) (*identity, error)
	maxBytes int             // of a response, for watchers that allow fragments
	progress time.Duration   // between progress notifications [10 min]
	over     context.Context // canceled when the server drains
}

func (s *Server) watchOptions() watchOptions {
	return watchOptions{
		keys: s.keys.KV, virtual: s.virtual,
		header: func(revision int64) *pb.ResponseHeader {
			h := &pb.ResponseHeader{Revision: revision} // etcd sends 0 for compacted history
			s.keys.Fill(h)
			return h
		},
		permit: func(ctx context.Context, r *pb.WatchCreateRequest) (*identity, error) {
			who, err := s.identify(ctx)
			if err == nil && !s.virtual.holds(r.Key) {
				err = s.mayRange(who, r.Key, r.RangeEnd)
			}
			return who, reply(err)
		},
		maxBytes: s.o.MaxRequestBytes + requestOverhead, progress: s.o.WatchProgress, over: s.draining,
	}
}

// watchService implements etcd's Watch service: streams with any number of watchers each.
type watchService struct {
	pb.UnimplementedWatchServer
	watchOptions
}

func newWatchService(o watchOptions) *watchService {
	o.progress = max(cmp.Or(o.progress, defaultProgressInterval), minProgressInterval)
	return &watchService{watchOptions: o}
}

// progressInterval differs slightly between streams, so that streams that began together do not
// report together.
func (s *watchService) progressInterval() time.Duration {
	return s.progress + rand.N(s.progress/10) // #nosec G404 -- spreads reports; no secret
}

// Watch serves one stream until its client or the server ends it. If the client only closes its
// side, its watchers continue.
func (s *watchService) Watch(stream pb.Watch_WatchServer) error {
	w := newWatchStream(s, stream)
	defer w.close()
	requests := make(chan *pb.WatchRequest, watchRequestsAhead)
	failed := make(chan error, 1)
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		if err := readRequests(stream, requests, ended); err != nil {
			failed <- err
		}
	}()
	err := w.run(requests, failed)
	if errors.Is(err, context.Canceled) {
		return rpctypes.ErrGRPCWatchCanceled
	}
	return err
}

// readRequests passes the requests of a stream on until it ends. It returns nil when the client has
// closed its side.
func readRequests(stream pb.Watch_WatchServer, requests chan<- *pb.WatchRequest, ended <-chan struct{}) error {
	for {
		r, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case requests <- r:
		case <-ended:
			return nil
		}
	}
}
