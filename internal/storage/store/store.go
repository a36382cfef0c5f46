package store

import (
	"io"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"fiveways.dev/fiveways/internal/storage/vfs"
	"fiveways.dev/fiveways/internal/storage/wal"
)

const lockName = "LOCK"

// Store is the log and the checkpoints of one node, in one directory.
type Store struct {
	fs     vfs.FS
	root   string // holds the lock
	dir    string // holds the log and the checkpoints: root, or an installed snapshot below it
	opts   Options
	lock   io.Closer
	files  files
	syncs  syncs
	bodies sync.Pool     // of *Reader, for Body
	cuts   atomic.Uint64 // number of cuts of the replicated log

	readOnly  bool // opened by OpenReadOnly: there is no committer
	committer *committer
	raft      *RaftLog // nil on a single node

	wake    chan struct{} // capacity 1: the committer's goroutine has work
	retry   chan struct{} // capacity 1: a full disk may have space again
	closing chan struct{} // closed by Close
	stopped chan struct{} // closed by the committer when it ends

	housekeeping sync.Mutex // serializes Forget, Rewrite and snapshots

	mu       sync.Mutex
	state    State
	watchers []func(State)
	shards   map[uint32]*shardLog
	segments []*segment // ascending; Append continues in the last one
	lead     lead
	closed   bool
	bytes    int64  // appended but not yet written
	appended uint64 // number of groups so far
	durable  uint64 // number of groups known to be durable
	stats    counters
}

// Open opens or creates the store in dir and locks it. It reads the footers of the sealed segments
// and the last segment. If it returns ErrCorrupt or ErrUnsupportedFormat, the directory is
// unchanged; see Inspect and Repair.
func Open(fs vfs.FS, dir string, o Options) (*Store, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	s := &Store{
		fs:      fs,
		root:    dir,
		opts:    o,
		files:   files{fs: fs},
		syncs:   syncs{one: make(chan struct{}, 1)},
		wake:    make(chan struct{}, 1),
		retry:   make(chan struct{}, 1),
		closing: make(chan struct{}),
		stopped: make(chan struct{}),
		shards:  map[uint32]*shardLog{},
	}
	if err := fs.MkdirAll(dir); err != nil {
		return nil, inFile(dir, err)
	}
	lock, err := fs.Lock(filepath.Join(dir, lockName))
	if err != nil {
		return nil, inFile(dir, err)
	}
	s.lock = lock
	if s.committer, err = s.recover(); err != nil {
		s.files.closeAll()
		lock.Close()
		return nil, err
	}
	go s.committer.run()
	return s, nil
}

// Close writes and syncs what was appended, stops the committer and releases the lock. Entries that
// a full disk keeps from being written get ErrClosed. Close returns ErrFailed if the store had
// failed.
func (s *Store) Close() error {
	if s.readOnly {
		s.files.closeAll()
		return s.lock.Close()
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		<-s.stopped
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	close(s.closing)
	<-s.stopped
	s.closeRaft()
	s.files.closeAll()
	err := s.lock.Close()
	if st := s.State(); st.Err != nil {
		return st.Err
	}
	return err
}

// Pending returns the number of bytes appended but not yet written.
func (s *Store) Pending() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

// Written returns the highest index of a shard handed to the kernel. Entries up to it can be read.
func (s *Store) Written(shard uint32) uint64 {
	return s.index(shard, func(l *shardLog) uint64 { return l.written })
}

// Last returns the highest index of a shard appended or found on disk. The next entry follows it.
func (s *Store) Last(shard uint32) uint64 {
	return s.index(shard, func(l *shardLog) uint64 { return l.last })
}

func (s *Store) index(shard uint32, of func(*shardLog) uint64) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.shards[shard]; l != nil {
		return of(l)
	}
	return 0
}

// Shards returns the shards that have entries or checkpoints, ascending.
func (s *Store) Shards() []uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := slices.Sorted(maps.Keys(s.shards))
	return slices.DeleteFunc(ids, func(id uint32) bool { return id == wal.RaftShard })
}

func (s *Store) path(name string) string { return filepath.Join(s.dir, name) }
