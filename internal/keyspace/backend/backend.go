package backend

import (
	"hash"
	"hash/crc32"
	"runtime"
	"sync"
	"sync/atomic"

	etcd "go.etcd.io/etcd/server/v3/storage/backend"
)

// Backend is etcd's backend in memory. New makes one; its methods may be called from any goroutine.
type Backend struct {
	snapshots string // folder for the files of Snapshot

	tx      batchTx
	current *atomic.Pointer[view]
	readers atomic.Int64
}

var _ etcd.Backend = (*Backend)(nil)

// view is a published state. Its memory stays while its epoch is held.
type view struct {
	state
	epoch *epoch
}

// New returns a backend without buckets. Its memory is given back when neither it nor a transaction
// is referred to any more. Snapshot writes its temporary files into the folder snapshots; "" means
// the system's.
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

// acquire returns the current view, held: release its epoch.
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

// publish shows readers what the writer did. The caller holds the BatchTx.
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
		v.epoch.refs.Store(2) // the backend, and the epoch before
		old.retired, old.next = w.retired, v.epoch
	}
	b.current.Store(v)
	if v.epoch != old {
		old.release()
	}
	w.published()
}

// published forgets what the writer alone saw.
func (w *writer) published() {
	w.dirty, w.ownsList, w.ownsTables = false, false, false
	w.touched, w.retired = nil, nil
}

// BatchTx returns the one writing transaction.
func (b *Backend) BatchTx() etcd.BatchTx { return &b.tx }

// ReadTx returns a transaction that sees what is published at its RLock.
func (b *Backend) ReadTx() etcd.ReadTx { return &readTx{b: b} }

// ConcurrentReadTx returns a transaction that sees what is published now; its RUnlock ends it.
func (b *Backend) ConcurrentReadTx() etcd.ReadTx { return &readTx{b: b, v: b.acquire()} }

// Hash is etcd's hash of all buckets but of what ignores names: the same as over a file of etcd
// with the same content.
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

// Size returns the bytes of all records, those included that were deleted and whose memory is not
// given back yet.
func (b *Backend) Size() int64 {
	taken, _ := b.current.Load().size()
	return taken
}

// SizeInUse returns the bytes of the records that are there.
func (b *Backend) SizeInUse() int64 {
	_, live := b.current.Load().size()
	return live
}

// Records returns how many revisions of keys there are, those included that were deleted and whose
// memory is not given back yet.
func (b *Backend) Records() int { return b.current.Load().records() }

// OpenReadTxN returns how many transactions read.
func (b *Backend) OpenReadTxN() int64 { return b.readers.Load() }

// Defrag gives back the memory of all deleted records.
func (b *Backend) Defrag() error {
	b.tx.mu.Lock()
	defer b.tx.mu.Unlock()
	b.tx.w.tidy(0)
	b.tx.w.dirty = true
	b.publish()
	return nil
}

// ForceCommit does nothing: what a BatchTx changed is published when it is unlocked, and it is the
// log that makes it durable.
func (b *Backend) ForceCommit() {}

// Close does nothing: a transaction that is late still finds what it sees.
func (b *Backend) Close() error { return nil }

// SetTxPostLockInsideApplyHook sets what is called after each LockInsideApply.
func (b *Backend) SetTxPostLockInsideApplyHook(hook func()) {
	b.tx.mu.Lock()
	defer b.tx.mu.Unlock()
	b.tx.hook = hook
}

// batchTx is the writing transaction; its lock makes its holder the only writer.
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

// readTx reads one view. One of ConcurrentReadTx has it from the start.
type readTx struct {
	b *Backend
	v *view
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
	return t.v.scan(b, key, end, limit)
}

func (t *readTx) UnsafeForEach(b etcd.Bucket, visit func(k, v []byte) error) error {
	return t.v.forEach(b.ID(), visit)
}
