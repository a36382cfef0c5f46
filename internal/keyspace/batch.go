package keyspace

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"fiveways.dev/fiveways/internal/keyspace/grants"
)

// Batch gathers changes that are proposed together. It is for one goroutine, which has other work
// than to wait for them.
type Batch struct {
	s       *Store
	entries [][]byte
	changes []gathered
}

// gathered is a change that holds the gate until it is told.
type gathered struct {
	id   uint64
	done func(*Result, error)
}

// NewBatch returns an empty batch.
func (s *Store) NewBatch() *Batch { return &Batch{s: s} }

// Add gathers a change of a user; false: it is for the methods of Store, because it would have to
// wait or be refused. done gets what Propose returns, on the goroutine that applies; it must
// neither block nor propose. Nothing of r is kept. Until Flush, which must follow, no Exclusive can
// begin.
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

// Flush proposes what was gathered. With inline it does the work on the caller's goroutine, disk
// included, when no other change is on its way: answers come before it returns then.
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
