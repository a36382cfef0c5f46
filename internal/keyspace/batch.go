package keyspace

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"fiveways.dev/fiveways/internal/keyspace/grants"
)

// Batch collects changes that are proposed together. It is for a single goroutine, which does other
// work instead of waiting.
type Batch struct {
	s       *Store
	entries [][]byte
	changes []gathered
}

// gathered is a change that holds the gate until its result is delivered.
type gathered struct {
	id   uint64
	done func(*Result, error)
}

// NewBatch returns an empty batch.
func (s *Store) NewBatch() *Batch { return &Batch{s: s} }

// Add adds a change of a user. It returns false if the change would have to wait or be refused:
// then the caller must use the methods of Store. done is called with the results of Propose, on the
// goroutine that applies; it must neither block nor propose. r is not kept. Flush must follow;
// until then no Exclusive can begin.
func (b *Batch) Add(who grants.Info, r *pb.InternalRaftRequest, done func(*Result, error)) bool {
	s := b.s
	if more := grows(r); more != nil && !s.quota.Available(more) || !s.gate.TryRLock() {
		return false
	}
	h := &pb.RequestHeader{Username: who.Username, AuthRevision: who.Revision}
	entry, id, err := s.entry(h, r, waiter{tell: func(x *Result) { done(failed(x)) }})
	if err != nil {
		s.gate.RUnlock()
		return false
	}
	b.entries = append(b.entries, entry)
	b.changes = append(b.changes, gathered{id, done})
	return true
}

// Flush proposes the collected changes. With inline it does the work on the caller's goroutine,
// including disk writes, if no other change is in flight: then done is called before Flush returns.
func (b *Batch) Flush(inline bool) {
	if len(b.changes) == 0 {
		return
	}
	s, changes, entries := b.s, b.changes, b.entries
	b.changes, b.entries = nil, nil
	s.log.RecordAll(entries, inline, func(i int, _ uint64, err error) {
		s.gate.RUnlock()
		if err != nil && s.waiters.take(changes[i].id) != nil {
			changes[i].done(nil, err)
		}
	})
}
