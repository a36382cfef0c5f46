package vfs

import "path/filepath"

// TmpSuffix ends the name of a file that is being written and has not replaced the file without the
// suffix yet.
const TmpSuffix = ".tmp"

// Replace makes b the content of a file, new or not, and durable: after a crash the file has either
// its old content or b.
func Replace(fsys FS, path string, b []byte) error {
	f, err := fsys.Create(path + TmpSuffix)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, 0)
	if err == nil {
		err = f.Datasync()
	}
	f.Close() // synced, or not used
	if err == nil {
		err = fsys.Rename(path+TmpSuffix, path)
	}
	if err == nil {
		err = fsys.SyncDir(filepath.Dir(path))
	}
	return err
}

// ReadSmall returns the first bytes of a file, at most most.
func ReadSmall(fsys FS, path string, most int64) ([]byte, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	b := make([]byte, min(size, most))
	if n, err := f.ReadAt(b, 0); n < len(b) {
		return nil, err
	}
	return b, nil
}
