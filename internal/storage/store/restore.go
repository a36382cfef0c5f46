package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// ErrNotEmpty means that a directory already has data.
var ErrNotEmpty = errors.New("store: the folder has data")

// Restore fills an empty or missing directory with the files of a Snapshot, which unpack writes,
// and verifies them. After a crash either all of them count or none. After an error the directory
// has only what it had before. It returns ErrNotEmpty, ErrCorrupt, or an error of unpack or the
// file system.
func Restore(fsys vfs.FS, dir string, unpack func(*Staged) error) (err error) {
	if err := fsys.MkdirAll(dir); err != nil {
		return inFile(dir, err)
	}
	path := filepath.Join(dir, lockName)
	_, had := fsys.Stat(path)
	lock, err := fsys.Lock(path)
	if err != nil {
		return inFile(dir, err)
	}
	defer lock.Close()
	defer func() {
		if err != nil && errors.Is(had, fs.ErrNotExist) {
			fsys.Remove(path) //nolint:errcheck // it holds nothing
		}
	}()
	is, err := LookInto(fsys, dir)
	if err == nil && (is.Replica || !is.Empty) {
		err = fmt.Errorf("%w: %s", ErrNotEmpty, dir)
	}
	if err != nil {
		return err
	}
	live, err := liveDir(fsys, dir)
	if err != nil {
		return err
	}
	st, err := (&RaftLog{s: &Store{fs: fsys, root: dir, dir: live}}).Stage()
	if err != nil {
		return err
	}
	defer st.Drop()
	err = unpack(st)
	if err == nil {
		err = st.endFile()
	}
	if err == nil {
		err = st.Verify()
	}
	if err == nil {
		err = fsys.SyncDir(st.dir)
	}
	if err != nil {
		return err
	}
	st.kept = true
	return setLive(fsys, dir, st.slot)
}
