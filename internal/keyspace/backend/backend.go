package backend

import (
	"hash"
	"hash/crc32"
	"runtime"
	"sync"
	"sync/atomic"

	etcd "go.etcd.io/etcd/server/v3/storage/backend"
)

// Backend implements etcd's backend in memory. Any goroutine may call its methods.
type Backend struct {
	snapshots string // folder for files of Snapshot

	tx      batchTx
	current *atomic.Pointer[view]
	readers atomic.Int64
}

var _ etcd.Backend = (*Backend)(nil)

// view is a published state. Its memory stays valid while its epoch is held.
type view struct {
	state
	epoch *epoch
}

// New returns a backend without buckets. Its memory is freed once neither the backend nor a
// transaction is referenced. Snapshot writes temporary files into the folder snapshots; "" means
// the system's folder.
func New(snapshots string) *Backend {
	b := &Backend{snapshots: snapshots, current: new(atomic.Pointer[view])}
	b.tx.b = b
	first := &epoch{}
	first.refs.Store(1)
	b.current.Store(&view{epoch: first})
	runtime.AddCleanup(b, func(last *atomic.Pointer[view]) {
		for _, c := range last.Load().chunks {
			freeRegion(c.mem)
		}
	}, b.current)
	return b
}

// acquire returns the current view and holds its epoch. The caller must release it.
func (b *Backend) acquire() *view {
	for {
		if v := b.current.Load(); v.epoch.hold() {
			b.readers.Add(1)
			return v
		}
	}
}

func (b *Backend) release(v *view) {
	b.readers.Add(-1)
	v.epoch.release()
}

// publish makes the changes of the writer visible to readers. The caller holds the BatchTx.
func (b *Backend) publish() {
	w := &b.tx.w
	if !w.dirty {
		return
	}
	if len(w.touched) > 0 {
		w.tidy(50)
	}
	if w.ownsTables {
		for i := range w.tables {
			w.tables[i].owned = false
		}
	}
	old := b.current.Load().epoch
	v := &view{state: w.state, epoch: old}
	if len(w.retired) > 0 {
		v.epoch = &epoch{}
		v.epoch.refs.Store(2) // held by the backend and by the previous epoch
		old.retired, old.next = w.retired, v.epoch
	}
	b.current.Store(v)
	if v.epoch != old {
		old.release()
	}
	w.published()
}

// published resets the state that belongs to one publication.
func (w *writer) published() {
	w.dirty, w.ownsList, w.ownsTables = false, false, false
	w.touched, w.retired = nil, nil
}

// BatchTx returns the only write transaction.
func (b *Backend) BatchTx() etcd.BatchTx { return &b.tx }

// ReadTx returns a transaction that sees the state published at its RLock.
func (b *Backend) ReadTx() etcd.ReadTx { return &readTx{b: b} }

// ConcurrentReadTx returns a transaction that sees the currently published state. RUnlock ends it.
func (b *Backend) ConcurrentReadTx() etcd.ReadTx { return &readTx{b: b, v: b.acquire()} }

// Hash returns etcd's hash of all buckets except for the records that ignores excludes. It is the
// same as for a file of etcd with the same content.
func (b *Backend) Hash(ignores func(bucket, key []byte) bool) (uint32, error) {
	v := b.acquire()
	defer b.release(v)
	h := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	for i := range v.tables {
		if err := v.hashBucket(h, &v.tables[i], ignores); err != nil {
			return 0, err
		}
	}
	return h.Sum32(), nil
}

func (v *view) hashBucket(h hash.Hash, t *table, ignores func(bucket, key []byte) bool) error {
	name := []byte(t.name)
	h.Write(name)
	return v.forEach(t.id, func(key, value []byte) error {
		if ignores != nil && ignores(name, key) {
			return nil
		}
		h.Write(key)
		h.Write(value)
		return nil
	})
}

// Size returns the bytes of all records, including deleted ones whose memory is not freed yet.
func (b *Backend) Size() int64 {
	taken, _ := b.current.Load().size()
	return taken
}

// SizeInUse returns the bytes of the live records.
func (b *Backend) SizeInUse() int64 {
	_, live := b.current.Load().size()
	return live
}

// Records returns the number of revisions of keys, including deleted ones whose memory is not freed
// yet.
func (b *Backend) Records() int { return b.current.Load().records() }

// OpenReadTxN returns the number of open read transactions.
func (b *Backend) OpenReadTxN() int64 { return b.readers.Load() }

// Defrag frees the memory of all deleted records.
func (b *Backend) Defrag() error {
	b.tx.mu.Lock()
	defer b.tx.mu.Unlock()
	b.tx.w.tidy(0)
	b.tx.w.dirty = true
	b.publish()
	return nil
}

// ForceCommit does nothing: the changes of a BatchTx are published when it is unlocked, and the log
// makes them durable.
func (b *Backend) ForceCommit() {}

// Close does nothing: late transactions can still read what they see.
func (b *Backend) Close() error { return nil }

// SetTxPostLockInsideApplyHook sets a function that is called after each LockInsideApply.
func (b *Backend) SetTxPostLockInsideApplyHook(hook func()) {
	b.tx.mu.Lock()
	defer b.tx.mu.Unlock()
	b.tx.hook = hook
}

// batchTx is the write transaction. The holder of its lock is the only writer.
type batchTx struct {
	b    *Backend
	mu   sync.Mutex
	w    writer
	hook func()
}

func (t *batchTx) Lock()             { t.mu.Lock() }
func (t *batchTx) LockOutsideApply() { t.mu.Lock() }

func (t *batchTx) LockInsideApply() {
	t.mu.Lock()
	if t.hook != nil {
		t.hook()
	}
}

func (t *batchTx) Unlock() {
	t.b.publish()
	t.mu.Unlock()
}

func (t *batchTx) Commit()        {}
func (t *batchTx) CommitAndStop() {}

func (t *batchTx) UnsafeCreateBucket(b etcd.Bucket)           { t.w.create(b) }
func (t *batchTx) UnsafeDeleteBucket(b etcd.Bucket)           { t.w.drop(b) }
func (t *batchTx) UnsafePut(b etcd.Bucket, key, value []byte) { t.w.put(b, key, value) }
func (t *batchTx) UnsafeSeqPut(b etcd.Bucket, k, v []byte)    { t.w.put(b, k, v) }
func (t *batchTx) UnsafeDelete(b etcd.Bucket, key []byte)     { t.w.remove(b, key) }

func (t *batchTx) UnsafeRange(b etcd.Bucket, key, end []byte, limit int64) (keys, values [][]byte) {
	return t.w.scan(b, key, end, limit)
}

func (t *batchTx) UnsafeForEach(b etcd.Bucket, visit func(k, v []byte) error) error {
	return t.w.forEach(b.ID(), visit)
}

// readTx reads one view, for one goroutine. A readTx of ConcurrentReadTx has its view from the
// start.
type readTx struct {
	b     *Backend
	v     *view
	found [2][]byte // the result of a range of one key, which is frequent; valid until the next one
}

func (t *readTx) RLock() {
	if t.v == nil {
		t.v = t.b.acquire()
	}
}

func (t *readTx) RUnlock() {
	t.b.release(t.v)
	t.v = nil
}

func (t *readTx) UnsafeRange(b etcd.Bucket, key, end []byte, limit int64) (keys, values [][]byte) {
	if len(end) != 0 {
		return t.v.scan(b, key, end, limit)
	}
	k, v, ok := t.v.find(b, key)
	if !ok {
		return nil, nil
	}
	t.found = [2][]byte{k, v}
	return t.found[:1:1], t.found[1:]
}

func (t *readTx) UnsafeForEach(b etcd.Bucket, visit func(k, v []byte) error) error {
	return t.v.forEach(b.ID(), visit)
}
