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

// Log records changes. A Recorder of the broker implements it.
type Log interface {
	// Record returns the entry's index when it is durable and applied.
	Record(entry []byte) (index uint64, err error)
	// RecordAll records entries as one group and does not wait. For each entry it calls done with
	// its index in entries when it is durable and applied, or with an error; done must not block.
	// With inline the caller may do the work itself, including disk writes, if nothing else is in
	// flight.
	RecordAll(entries [][]byte, inline bool, done func(i int, index uint64, err error))
}

// Result is the result of a change: its answer, or etcd's error.
type Result = apply.Result

// ErrNotStarted means that the store does not accept changes yet.
var ErrNotStarted = errors.New("keyspace: not started")

// Start makes the store accept changes, and starts the leases with their full TTL. It must be
// called after the log was replayed. It fails if an entry could not be read, or if the identity of
// a new store cannot be recorded.
func (s *Store) Start(log Log) error {
	if err := s.Err(); err != nil {
		return err
	}
	s.log = log
	s.b.Sweep()
	if err := s.proposeIdentity(); err != nil {
		return fmt.Errorf("keyspace: record the id of the member: %w", err)
	}
	s.engineMu.Lock()
	defer s.engineMu.Unlock()
	s.started = true
	if e := s.engine.Load(); e != nil {
		s.startLeases(e.le)
	}
	return nil
}

// Propose records a change and returns when it is durable and applied. The error means that it was
// not recorded, or that the log failed and the outcome is unknown. etcd's error for the change
// itself is in the result. A change that has begun is not abandoned when ctx ends.
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

// failed converts a result that represents a failure of the store to an error.
func failed(x *Result) (*Result, error) {
	var f storeFailure
	if errors.As(x.Err, &f) {
		return nil, f.error
	}
	return x, nil
}

// entry encodes a change and registers its waiter under the returned ID.
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
