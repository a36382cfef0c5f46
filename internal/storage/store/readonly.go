package store

import (
	"path/filepath"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// OpenReadOnly opens the existing store in dir to inspect what Open would find. It changes nothing
// in the directory but the lock file, which it holds until Close. A torn end is ignored and left in
// place. Append and SyncNow give ErrClosed. The caller must not call WriteCheckpoint, Forget or
// Rewrite, which change files. It returns the errors of Open.
func OpenReadOnly(fs vfs.FS, dir string, o Options) (*Store, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	lock, err := fs.Lock(filepath.Join(dir, lockName))
	if err != nil {
		return nil, inFile(dir, err)
	}
	s := &Store{
		fs: fs, root: dir, opts: o, files: files{fs: fs}, lock: lock,
		readOnly: true, closed: true, shards: map[uint32]*shardLog{},
	}
	s.dir, err = liveDir(fs, dir)
	var l layout
	if err == nil {
		l, err = readLayout(fs, s.dir)
	}
	if err == nil {
		_, err = s.readLog(&l)
	}
	if err != nil {
		lock.Close()
		return nil, err
	}
	return s, nil
}
