package keyspace

import (
	"cmp"
	"sync"
	"sync/atomic"

	"github.com/coreos/go-semver/semver"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/client/pkg/v3/types"
	"go.etcd.io/etcd/server/v3/etcdserver/api/membership"
	"go.etcd.io/etcd/server/v3/lease"
	etcdstorage "go.etcd.io/etcd/server/v3/storage"
	etcdbackend "go.etcd.io/etcd/server/v3/storage/backend"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"go.uber.org/zap"

	"fiveways.dev/fiveways/internal/keyspace/backend"
	"fiveways.dev/fiveways/internal/keyspace/grants"
)

// Store holds the ordinary keys, their leases, alarms and roles.
type Store struct {
	o      Options
	lg     *zap.Logger
	b      *backend.Backend
	grants *grants.Grants

	quota   etcdstorage.Quota
	cluster *membership.RaftCluster
	member  atomic.Uint64 // ID of the member that created the store; 0: not set yet
	serving atomic.Uint64 // ID of the member that answers, in a cluster of several; else 0
	term    atomic.Uint64 // the term in which that member leads
	applied atomic.Uint64 // index of the last applied entry

	// applyMu is held while etcd's appliers execute a request.
	applyMu sync.Mutex
	failure atomic.Pointer[error] // why entries are no longer applied
	leases  followers

	engine   atomic.Pointer[engine] // nil before it is needed; see etcd
	engineMu sync.Mutex             // held while engine is set; locked after applyMu
	started  bool                   // Start was called; under engineMu

	log     Log
	gate    sync.RWMutex // read-locked while a change is in flight; write-locked by Exclusive
	waiters waiters
	frozen  *backend.Frozen // result of the last Freeze; used by the broker

	stop     chan struct{}
	stopping sync.Once
	done     sync.WaitGroup
}

// New returns an empty store, to be filled by Restore and Apply.
func New(o Options) *Store {
	o = o.withDefaults()
	s := &Store{o: o, lg: o.Logger, b: backend.New(o.Folder), stop: make(chan struct{})}
	s.waiters.init()
	s.cluster = membership.NewCluster(s.lg)
	s.createBuckets()
	s.grants = grants.New(s.b)
	s.quota = etcdstorage.NewBackendQuota(s.lg, o.QuotaBytes, s.b, "keyspace")
	if err := s.readIdentity(); err != nil {
		panic(err) // an empty backend has none
	}
	return s
}

// Close ends all goroutines of the store. After it only methods that read may be called.
func (s *Store) Close() error {
	s.Stop()
	e := s.etcd() // also if there is none yet, so that none begins later
	e.le.Stop()
	return e.kv.Close()
}

// Stop ends the background work of the store: no further lease is revoked. It must be called before
// the broker closes, and Close after that.
func (s *Store) Stop() {
	s.stopping.Do(func() {
		s.engineMu.Lock() // no engine starts a goroutine after this
		defer s.engineMu.Unlock()
		close(s.stop)
	})
	s.done.Wait()
}

// KV returns the multi-version store for reads and watches. Only Apply may write to it.
func (s *Store) KV() mvcc.WatchableKV { return s.etcd().kv }

// Lessor returns the leases for reads. Only Apply may change them, except for renewals.
func (s *Store) Lessor() lease.Lessor { return s.etcd().le }

// Backend returns the buckets.
func (s *Store) Backend() etcdbackend.Backend { return s.b }

// Grants returns the roles and their users, read-only: only Apply may change them.
func (s *Store) Grants() *grants.Grants { return s.grants }

// Quota returns how many bytes the keys may take; 0 means no limit.
func (s *Store) Quota() int64 { return max(s.o.QuotaBytes, 0) }

// indexBytes is the approximate memory of etcd's index for one revision of a key on the heap. The
// largest share is for a key with a single revision.
const indexBytes = 256

// IndexBytes returns the approximate size of the index of the keys on Go's heap. The keys
// themselves are outside of the heap.
func (s *Store) IndexBytes() int64 { return int64(s.b.Records()) * indexBytes }

// Logger returns the logger of etcd's code.
func (s *Store) Logger() *zap.Logger { return s.lg }

// Index returns the log index of the last applied entry.
func (s *Store) Index() uint64 { return s.applied.Load() }

// ServeAs sets the member of a larger cluster that answers report, and the term in which it leads.
// The ID of the cluster does not change. It must be called before the first answer.
func (s *Store) ServeAs(member, term uint64) {
	s.serving.Store(member)
	s.term.Store(term)
}

// MemberID returns the ID of this member, or 0 before Start has set it.
func (s *Store) MemberID() uint64 { return cmp.Or(s.serving.Load(), s.member.Load()) }

// ClusterID returns the ID of the cluster, which is derived from that of its first member.
func (s *Store) ClusterID() uint64 { return clusterOf(s.member.Load()) }

// Term returns the term in which this member leads: 1, unless ServeAs has set another.
func (s *Store) Term() uint64 { return cmp.Or(s.term.Load(), 1) }

// Header returns a header with the fields that are the same in every answer, and the current
// revision.
func (s *Store) Header() *pb.ResponseHeader {
	h := &pb.ResponseHeader{Revision: s.etcd().kv.Rev()}
	s.Fill(h)
	return h
}

// Fill sets the fields of a header that are the same in every answer. It keeps the revision.
func (s *Store) Fill(h *pb.ResponseHeader) {
	h.ClusterId, h.MemberId, h.RaftTerm = s.ClusterID(), s.MemberID(), s.Term()
}

// status provides to etcd's appliers what Raft would.
type status struct{ s *Store }

func (t status) MemberID() types.ID     { return types.ID(t.s.MemberID()) }
func (t status) Leader() types.ID       { return types.ID(t.s.MemberID()) }
func (t status) CommittedIndex() uint64 { return t.s.Index() }
func (t status) AppliedIndex() uint64   { return t.s.Index() }
func (t status) Term() uint64           { return t.s.Term() }

// version provides the version of the cluster to etcd's lessor.
type version struct{}

func (version) Version() *semver.Version { return &semver.Version{Major: 3, Minor: 5} }
