package keyspace

import (
	"context"
	"io"
	"sync"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
)

// Hash returns etcd's hash of all buckets, and the revision.
func (s *Store) Hash(context.Context) (hash uint32, revision int64, err error) {
	return s.etcd().kv.HashStorage().Hash()
}

// HashKV returns etcd's hash of all keys up to a revision, and the current revision; 0 means the
// current one.
func (s *Store) HashKV(_ context.Context, upTo int64) (hash mvcc.KeyValueHash, revision int64, err error) {
	return s.etcd().kv.HashStorage().HashByRev(upTo)
}

// Hashed is a store with a hash as a state machine, over the keys and their revisions. Store.Hash
// also depends on the progress of compaction.
type Hashed struct{ *Store }

// Sum returns a hash, which is equal for equal keys. ok is false if hashing has failed.
func (h Hashed) Sum() (sum uint64, ok bool) {
	if h.engine.Load() == nil {
		return emptySum(), true
	}
	return h.sum()
}

// emptySum is the sum of a store without keys.
var emptySum = sync.OnceValue(func() uint64 {
	s := New(Options{})
	defer s.Close() //nolint:errcheck // it only ends goroutines
	sum, _ := Hashed{s}.sum()
	return sum
})

func (h Hashed) sum() (sum uint64, ok bool) {
	kv, _, err := h.HashKV(context.Background(), 0)
	return uint64(kv.Hash)<<32 ^ uint64(kv.Revision)<<1 ^ uint64(kv.CompactRevision), err == nil
}

// Snapshot returns the current buckets as a database file of etcd, and its length. The caller must
// close it.
func (s *Store) Snapshot(context.Context) (size int64, file io.ReadCloser, err error) {
	return s.b.OpenSnapshot()
}

// Defragment frees the memory of everything that is deleted.
func (s *Store) Defragment() error { return s.b.Defrag() }

// Status returns the size and the position of the store. The caller sets the server's version.
func (s *Store) Status() *pb.StatusResponse {
	answer := &pb.StatusResponse{
		Header:           s.Header(),
		DbSize:           s.b.Size(),
		DbSizeInUse:      s.b.SizeInUse(),
		Leader:           s.MemberID(),
		RaftIndex:        s.Index(),
		RaftAppliedIndex: s.Index(),
		RaftTerm:         s.Term(),
	}
	for _, alarm := range s.Alarms() {
		answer.Errors = append(answer.Errors, alarm.String())
	}
	return answer
}
