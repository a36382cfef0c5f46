package keyspace

import (
	"cmp"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/coreos/go-semver/semver"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/client/pkg/v3/types"
	"go.etcd.io/etcd/server/v3/etcdserver/api/membership"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3alarm"
	"go.etcd.io/etcd/server/v3/etcdserver/apply"
	"go.etcd.io/etcd/server/v3/lease"
	etcdstorage "go.etcd.io/etcd/server/v3/storage"
	etcdbackend "go.etcd.io/etcd/server/v3/storage/backend"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.uber.org/zap"

	"fiveways.dev/fiveways/internal/keyspace/backend"
	"fiveways.dev/fiveways/internal/keyspace/grants"
)

// Store is the ordinary keys, their leases, alarms and roles. New makes one, Start lets it take
// changes, Close ends it.
type Store struct {
	o      Options
	lg     *zap.Logger
	b      *backend.Backend
	kv     mvcc.WatchableKV
	le     lease.Lessor
	grants *grants.Grants

	quota   etcdstorage.Quota
	cluster *membership.RaftCluster
	member  atomic.Uint64 // id of the member that has made the store; 0 before there is one
	serving atomic.Uint64 // that of the member that answers, when it is one of several; else 0
	term    atomic.Uint64 // in which that leads
	applied atomic.Uint64 // index of the last entry that was applied

	// applyMu is held while a request goes through etcd's appliers.
	applyMu sync.Mutex
	applier apply.UberApplier
	alarms  *v3alarm.AlarmStore
	failure atomic.Pointer[error] // why entries are not applied any more
	leases  followers

	log     Log
	gate    sync.RWMutex // read: a change is on its way; written: Exclusive
	waiters waiters
	frozen  *backend.Frozen // what the last Freeze holds; the broker's

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
	s.le = lease.NewLessor(s.lg, s.b, version{}, lease.LessorConfig{MinLeaseTTL: o.MinLeaseTTL})
	s.kv = mvcc.New(s.lg, s.b, s.le, mvcc.StoreConfig{})
	s.grants = grants.New(s.b)
	s.quota = etcdstorage.NewBackendQuota(s.lg, o.QuotaBytes, s.b, "keyspace")
	if err := s.ready(); err != nil {
		panic(err) // of an empty backend; nothing of it can be wrong
	}
	return s
}

// ready makes what stands on the buckets as they are now.
func (s *Store) ready() error {
	var err error
	if s.alarms, err = v3alarm.NewAlarmStore(s.lg, schema.NewAlarmBackend(s.lg, s.b)); err != nil {
		return fmt.Errorf("keyspace: alarms: %w", err)
	}
	if err := s.readIdentity(); err != nil {
		return err
	}
	s.applier = apply.NewUberApplier(apply.ApplierOptions{
		Logger:                       zap.NewNop(), // it would write whole requests, with users' keys, when they are slow or refused
		KV:                           s.kv,
		AlarmStore:                   s.alarms,
		AuthStore:                    everybody{},
		Lessor:                       s.le,
		Cluster:                      s.cluster,
		RaftStatus:                   status{s},
		TxnModeWriteWithSharedBuffer: true,
		Backend:                      s.b,
		QuotaBackendBytesCfg:         s.o.QuotaBytes,
		WarningApplyDuration:         slowApply,
	})
	return nil
}

// Close ends all goroutines of the store; no method may be called after it but those that read.
func (s *Store) Close() error {
	s.Stop()
	s.le.Stop()
	return s.kv.Close()
}

// Stop ends what the store does by itself: no lease is revoked any more. Call it before the broker
// closes, and Close after.
func (s *Store) Stop() {
	s.stopping.Do(func() { close(s.stop) })
	s.done.Wait()
}

// KV returns the multi-version store: for reads and watches. Only Apply may write to it.
func (s *Store) KV() mvcc.WatchableKV { return s.kv }

// Lessor returns the leases: for reads. Only Apply may change them, but for renewals.
func (s *Store) Lessor() lease.Lessor { return s.le }

// Backend returns the buckets.
func (s *Store) Backend() etcdbackend.Backend { return s.b }

// Grants returns the roles and their users, read-only: only Apply may change them.
func (s *Store) Grants() *grants.Grants { return s.grants }

// Quota returns how many bytes the keys may take; 0 for no limit.
func (s *Store) Quota() int64 { return max(s.o.QuotaBytes, 0) }

// indexBytes is what etcd's index takes on the heap for one revision of a key, about: the most is
// for a key with one.
const indexBytes = 256

// IndexBytes returns about how much of Go's heap the index of the keys takes. The keys themselves
// are elsewhere.
func (s *Store) IndexBytes() int64 { return int64(s.b.Records()) * indexBytes }

// Logger returns where etcd's code writes.
func (s *Store) Logger() *zap.Logger { return s.lg }

// Index returns the index in the log of the last entry that was applied.
func (s *Store) Index() uint64 { return s.applied.Load() }

// ServeAs has answers name a member of a cluster of several, and the term in which it leads. The id
// of the cluster stays. It comes before the first answer.
func (s *Store) ServeAs(member, term uint64) {
	s.serving.Store(member)
	s.term.Store(term)
}

// MemberID returns the id of this member, 0 before Start gave it one.
func (s *Store) MemberID() uint64 { return cmp.Or(s.serving.Load(), s.member.Load()) }

// ClusterID returns the id of the cluster, which comes from that of its first member.
func (s *Store) ClusterID() uint64 { return clusterOf(s.member.Load()) }

// Term returns the number of the election that this member has won: 1, of one, unless ServeAs said
// another.
func (s *Store) Term() uint64 { return cmp.Or(s.term.Load(), 1) }

// Header returns a header with all that is the same in every answer, and the current revision.
func (s *Store) Header() *pb.ResponseHeader {
	h := &pb.ResponseHeader{Revision: s.kv.Rev()}
	s.Fill(h)
	return h
}

// Fill writes into a header what is the same in every answer; its revision stays.
func (s *Store) Fill(h *pb.ResponseHeader) {
	h.ClusterId, h.MemberId, h.RaftTerm = s.ClusterID(), s.MemberID(), s.Term()
}

// status tells etcd's appliers what Raft would.
type status struct{ s *Store }

func (t status) MemberID() types.ID     { return types.ID(t.s.MemberID()) }
func (t status) Leader() types.ID       { return types.ID(t.s.MemberID()) }
func (t status) CommittedIndex() uint64 { return t.s.Index() }
func (t status) AppliedIndex() uint64   { return t.s.Index() }
func (t status) Term() uint64           { return t.s.Term() }

// version tells etcd's lessor which version the cluster has.
type version struct{}

func (version) Version() *semver.Version { return &semver.Version{Major: 3, Minor: 5} }
