package vfs

import "os"

// steadyBytes is how much of a steady file may wait to be written to the disk.
const steadyBytes = 1 << 20

// steady is a file that is written from its beginning to its end.
type steady struct {
	File
	begun, end int64 // write-back has begun up to begun; the file was written up to end
}

// CreateSteady is FS.Create for a large file that is written in order, beside the log. Its bytes go
// to the disk as they come: if they went all at once with Datasync, the log's syncs would wait
// behind them. Only one goroutine may write.
func CreateSteady(fs FS, path string) (File, error) { return steadily(fs.Create(path)) }

// CreateNewSteady is CreateSteady for a file that must not exist yet.
func CreateNewSteady(path string) (File, error) {
	return steadily(openOS(path, os.O_RDWR|os.O_CREATE|os.O_EXCL))
}

func steadily(f File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return &steady{File: f}, nil
}

func (f *steady) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(p, off)
	f.end = max(f.end, off+int64(n))
	if err == nil && f.end-f.begun >= steadyBytes {
		err = f.Writeback(f.begun, f.end)
		f.begun = f.end
	}
	return n, err
}
