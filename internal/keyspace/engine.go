package keyspace

import (
	"bytes"
	"fmt"

	"go.etcd.io/etcd/server/v3/etcdserver/api/v3alarm"
	"go.etcd.io/etcd/server/v3/etcdserver/apply"
	"go.etcd.io/etcd/server/v3/lease"
	etcdbackend "go.etcd.io/etcd/server/v3/storage/backend"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.uber.org/zap"
)

// engine is etcd's code over the buckets. Its clocks wake the process twelve times a second, which
// would be most of what an idle broker does. So a store has none until it is used.
type engine struct {
	kv      mvcc.WatchableKV
	le      lease.Lessor
	alarms  *v3alarm.AlarmStore
	applier apply.UberApplier
}

// etcd returns the engine, and creates it if there is none.
func (s *Store) etcd() *engine {
	if e := s.engine.Load(); e != nil {
		return e
	}
	s.engineMu.Lock()
	defer s.engineMu.Unlock()
	if s.engine.Load() == nil {
		if err := s.newEngine(); err != nil {
			panic(err) // Restore has created it if there is anything in the buckets to read
		}
	}
	return s.engine.Load()
}

// newEngine creates the engine from the buckets. The caller holds engineMu.
func (s *Store) newEngine() error {
	alarms, err := v3alarm.NewAlarmStore(s.lg, schema.NewAlarmBackend(s.lg, s.b))
	if err != nil {
		return fmt.Errorf("keyspace: alarms: %w", err)
	}
	e := &engine{alarms: alarms}
	// Leases first: the store attaches its keys to them.
	e.le = lease.NewLessor(s.lg, s.b, version{}, lease.LessorConfig{MinLeaseTTL: s.o.MinLeaseTTL})
	e.kv = withLeases{mvcc.New(s.lg, s.b, e.le, mvcc.StoreConfig{})}
	e.applier = apply.NewUberApplier(apply.ApplierOptions{
		Logger:                       zap.NewNop(), // it would log requests with users' keys
		KV:                           e.kv,
		AlarmStore:                   e.alarms,
		AuthStore:                    everybody{},
		Lessor:                       e.le,
		Cluster:                      s.cluster,
		RaftStatus:                   status{s},
		TxnModeWriteWithSharedBuffer: true,
		Backend:                      s.b,
		QuotaBackendBytesCfg:         s.o.QuotaBytes,
		WarningApplyDuration:         slowApply,
	})
	if s.started {
		s.startLeases(e.le)
	}
	s.engine.Store(e)
	return nil
}

// startLeases starts the leases with their full TTL. The caller holds engineMu.
func (s *Store) startLeases(le lease.Lessor) {
	le.Promote(0)
	select {
	case <-s.stop:
	default:
		s.done.Go(func() { s.revokeExpired(le) })
	}
}

// engineBuckets are the buckets that the engine works on.
var engineBuckets = []etcdbackend.Bucket{schema.Key, schema.Meta, schema.Lease, schema.Alarm}

// createBuckets creates the buckets that are not there. A dump and a snapshot have all of them,
// also without an engine: older brokers, which always had one, and etcd's tools expect that.
func (s *Store) createBuckets() {
	tx := s.b.BatchTx()
	tx.LockOutsideApply()
	defer tx.Unlock()
	tx.UnsafeCreateBucket(schema.Cluster)
	for _, bucket := range engineBuckets {
		tx.UnsafeCreateBucket(bucket)
	}
}

// used reports whether the buckets hold anything of the engine's.
func (s *Store) used() bool {
	tx := s.b.ReadTx()
	tx.RLock()
	defer tx.RUnlock()
	last := bytes.Repeat([]byte{0xff}, 20) // after every key
	for _, bucket := range engineBuckets {
		if keys, _ := tx.UnsafeRange(bucket, []byte{}, last, 1); len(keys) > 0 {
			return true
		}
	}
	return false
}
