package backend

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"go.etcd.io/bbolt"
	etcd "go.etcd.io/etcd/server/v3/storage/backend"
)

// boltBatch is how many records go into one transaction of bbolt, which keeps its changes in
// memory.
const boltBatch = 20000

const snapshotFiles = "keyspace-snapshot-*.db"

// Sweep removes files that a killed process has left behind. No other process may use the folder.
func (b *Backend) Sweep() {
	if b.snapshots == "" {
		return
	}
	left, _ := filepath.Glob(filepath.Join(b.snapshots, snapshotFiles)) // fails only for a bad pattern: then nothing is swept
	for _, path := range left {
		_ = os.Remove(path) // the next start tries again
	}
}

// Snapshot returns the current buckets as a bbolt file, like etcd's own database. The file is
// created at the first Size or WriteTo, concurrently with writers and readers. Close removes it.
func (b *Backend) Snapshot() etcd.Snapshot { return &snapshot{b: b, view: b.acquire()} }

type snapshot struct {
	b    *Backend
	once sync.Once
	view *view
	file *os.File
	size int64
	err  error
}

func (s *snapshot) make() {
	s.once.Do(func() {
		s.file, s.size, s.err = s.view.boltFile(s.b.snapshots)
		s.let()
	})
}

func (s *snapshot) let() {
	if s.view != nil {
		s.b.release(s.view)
		s.view = nil
	}
}

// Size returns the length of the file, or 0 if it could not be written; WriteTo returns the error.
func (s *snapshot) Size() int64 {
	s.make()
	return s.size
}

func (s *snapshot) WriteTo(w io.Writer) (int64, error) {
	s.make()
	if s.err != nil {
		return 0, s.err
	}
	return io.Copy(w, io.NewSectionReader(s.file, 0, s.size))
}

func (s *snapshot) Close() error {
	s.once.Do(s.let)
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	_ = os.Remove(s.file.Name()) // if an open file could not be removed before
	return err
}

// OpenSnapshot is Snapshot as a file that is read once. Closing it removes it.
func (b *Backend) OpenSnapshot() (size int64, file io.ReadCloser, err error) {
	s := &snapshot{b: b, view: b.acquire()}
	if s.make(); s.err != nil {
		return 0, nil, s.err
	}
	return s.size, struct {
		io.Reader
		io.Closer
	}{io.NewSectionReader(s.file, 0, s.size), s}, nil
}

// boltFile writes the view as a bbolt database into a new file in the folder.
func (v *view) boltFile(folder string) (*os.File, int64, error) {
	file, err := os.CreateTemp(folder, snapshotFiles)
	if err != nil {
		return nil, 0, fmt.Errorf("keyspace: make a snapshot: %w", err)
	}
	if err = v.writeBolt(file.Name()); err == nil {
		var info os.FileInfo
		if info, err = file.Stat(); err == nil {
			_ = os.Remove(file.Name()) // it can still be read while open
			return file, info.Size(), nil
		}
	}
	file.Close()
	os.Remove(file.Name())
	return nil, 0, fmt.Errorf("keyspace: make a snapshot: %w", err)
}

func (v *view) writeBolt(path string) error {
	// The file is not read after a crash, so it is not synced.
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true, NoGrowSync: true, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return err
	}
	for i := range v.tables {
		if err := v.fillBolt(db, &v.tables[i]); err != nil {
			db.Close()
			return err
		}
	}
	return db.Close()
}

func (v *view) fillBolt(db *bbolt.DB, t *table) error {
	name := []byte(t.name)
	tx, err := db.Begin(true)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing and returns an error
	bucket, err := tx.CreateBucketIfNotExists(name)
	if err != nil {
		return err
	}
	bucket.FillPercent = 1
	n := 0
	err = v.forEach(t.id, func(key, value []byte) error {
		if n++; n%boltBatch == 0 {
			if err := tx.Commit(); err != nil {
				return err
			}
			if tx, err = db.Begin(true); err != nil {
				return err
			}
			bucket = tx.Bucket(name)
			bucket.FillPercent = 1
		}
		return bucket.Put(key, value)
	})
	if err != nil {
		return err
	}
	return tx.Commit()
}
