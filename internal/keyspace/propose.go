package keyspace

import (
	"context"
	"errors"
	"fmt"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/etcdserver/apply"
	etcderrors "go.etcd.io/etcd/server/v3/etcdserver/errors"
	"google.golang.org/protobuf/proto"
)

// Log is where changes are recorded: a Recorder of the broker.
type Log interface {
	// Record returns the entry's index when it is durable and applied.
	Record(entry []byte) (index uint64, err error)
	// RecordAll records entries as one group and does not wait. It calls done for each of them,
	// with its place in entries, when it is durable and applied, or with what went wrong; done must
	// not block. With inline the caller may do the work itself, disk included, where nothing else
	// is on its way.
	RecordAll(entries [][]byte, inline bool, done func(i int, index uint64, err error))
}

// Result is what a change came to: its answer, or etcd's error for it.
type Result = apply.Result

// ErrNotStarted means that the store does not take changes yet.
var ErrNotStarted = errors.New("keyspace: not started")

// Start lets the store take changes, and leases run: each has its full time from now on. Call it
// when the log was replayed. It fails when an entry could not be read, or when the identity of a
// new store cannot be recorded.
func (s *Store) Start(log Log) error {
	if err := s.Err(); err != nil {
		return err
	}
	s.log = log
	s.b.Sweep()
	if err := s.proposeIdentity(); err != nil {
		return fmt.Errorf("keyspace: record the id of the member: %w", err)
	}
	s.le.Promote(0)
	s.done.Add(1)
	go s.revokeExpired()
	return nil
}

// Propose records a change and returns when it is durable and applied. The error says that it was
// not recorded, or that the log failed and the outcome is unknown; etcd's error for the change
// itself is in the result. A change once begun is not abandoned when ctx ends.
func (s *Store) Propose(ctx context.Context, r *pb.InternalRaftRequest) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	answer := make(chan *Result, 1)
	entry, id, err := s.entry(requestHeader(ctx), r, waiter{tell: func(x *Result) { answer <- x }})
	if err != nil {
		return nil, err
	}
	s.gate.RLock()
	_, err = s.log.Record(entry)
	s.gate.RUnlock()
	if err != nil {
		s.waiters.take(id)
		return nil, err
	}
	return failed(<-answer)
}

// failed turns a result that stands for a failure of the store into one.
func failed(x *Result) (*Result, error) {
	var f storeFailure
	if errors.As(x.Err, &f) {
		return nil, f.error
	}
	return x, nil
}

// entry encodes a change and registers its waiter under the id.
func (s *Store) entry(h *pb.RequestHeader, r *pb.InternalRaftRequest, w waiter) (entry []byte, id uint64, err error) {
	if err := s.Err(); err != nil {
		return nil, 0, err
	}
	if s.log == nil {
		return nil, 0, ErrNotStarted
	}
	r.ID, r.Header = s.waiters.nextID(), h
	if entry, err = proto.Marshal(r); err != nil {
		return nil, 0, fmt.Errorf("keyspace: encode a change: %w", err)
	}
	if len(entry) > s.o.MaxRequestBytes {
		return nil, 0, etcderrors.ErrRequestTooLarge
	}
	s.waiters.add(r.ID, w)
	return entry, r.ID, nil
}
