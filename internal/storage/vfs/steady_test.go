package vfs

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"testing"
)

// recorded is a file system whose files record the ranges of Writeback.
type recorded struct {
	FS
	ranges [][2]int64
	err    error
}

type recordedFile struct {
	File
	fs *recorded
}

func (r *recorded) Create(path string) (File, error) {
	f, err := r.FS.Create(path)
	return recordedFile{f, r}, err
}

func (f recordedFile) Writeback(from, to int64) error {
	f.fs.ranges = append(f.fs.ranges, [2]int64{from, to})
	return f.fs.err
}

// TestSteady checks that a steady file has what was written, is written back in contiguous ranges,
// and reports their errors.
func TestSteady(t *testing.T) {
	for _, fs := range []FS{NewMem(), OS{}} {
		r := &recorded{FS: fs}
		path := filepath.Join(t.TempDir(), "f")
		if err := fs.MkdirAll(filepath.Dir(path)); err != nil {
			t.Fatal(err)
		}
		f, err := CreateSteady(r, path)
		if err != nil {
			t.Fatal(err)
		}
		const chunk = steadyBytes/2 + 1
		for i := range 5 {
			if n, err := f.WriteAt(bytes.Repeat([]byte{byte('a' + i)}, chunk), int64(i*chunk)); n != chunk || err != nil {
				t.Fatal(n, err)
			}
		}
		if want := [][2]int64{{0, 2 * chunk}, {2 * chunk, 4 * chunk}}; !slices.Equal(r.ranges, want) {
			t.Errorf("written back %v, want %v", r.ranges, want)
		}
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, 5*chunk-1); err != nil || last[0] != 'e' {
			t.Errorf("the last byte is %q, %v", last, err)
		}
		r.err = errors.New("bad disk")
		if _, err := f.WriteAt(make([]byte, steadyBytes), 5*chunk); !errors.Is(err, r.err) {
			t.Errorf("the error of the disk is %v", err)
		}
		if err := f.Datasync(); err != nil {
			t.Error(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestWriteback checks that the operating system takes the call.
func TestWriteback(t *testing.T) {
	f, err := OS{}.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(make([]byte, 3*steadyBytes), 0); err != nil {
		t.Fatal(err)
	}
	for i := range int64(3) {
		if err := f.Writeback(i*steadyBytes, (i+1)*steadyBytes); err != nil {
			t.Fatal(err)
		}
	}
}
