package store

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

func containerOf(t testing.TB, c checkpointFile, data []byte) []byte {
	t.Helper()
	fs := vfs.NewMem()
	f, err := createIn(fs)
	if err != nil {
		t.Fatal(err)
	}
	w, err := newCheckpointWriter(f, c)
	if err != nil {
		t.Fatal(err)
	}
	for rest := data; len(rest) > 0; { // in odd pieces
		n := min(len(rest), 100_001)
		if _, err := w.Write(rest[:n]); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	if err := w.finish(); err != nil {
		t.Fatal(err)
	}
	size, _ := f.Size()
	b := make([]byte, size)
	f.ReadAt(b, 0)
	return b
}

func createIn(fs *vfs.Mem) (vfs.File, error) {
	if err := fs.MkdirAll(testDir); err != nil {
		return nil, err
	}
	return fs.Create(testDir + "/c")
}

func TestContainerRoundTrip(t *testing.T) {
	c := checkpointFile{3, 99}
	for _, n := range []int{0, 1, checkpointBlock - 1, checkpointBlock, 2*checkpointBlock + 17} {
		data := bytes.Repeat([]byte("fiveways"), n/8+1)[:n]
		got, err := io.ReadAll(newCheckpointReader(bytes.NewReader(containerOf(t, c, data)), c))
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes: got %d, %v", n, len(got), err)
		}
	}
}

func TestContainerDamage(t *testing.T) {
	c := checkpointFile{3, 99}
	whole := containerOf(t, c, []byte("state"))
	for cut := range whole {
		if _, err := io.ReadAll(newCheckpointReader(bytes.NewReader(whole[:cut]), c)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
	for at := range whole {
		b := bytes.Clone(whole)
		b[at] ^= 4
		if _, err := io.ReadAll(newCheckpointReader(bytes.NewReader(b), c)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("flip at %d: %v", at, err)
		}
	}
	if _, err := io.ReadAll(newCheckpointReader(bytes.NewReader(append(bytes.Clone(whole), 0)), c)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("bytes after the end: %v", err)
	}
	if _, err := io.ReadAll(newCheckpointReader(bytes.NewReader(whole), checkpointFile{3, 98})); !errors.Is(err, ErrCorrupt) {
		t.Errorf("under another name: %v", err)
	}
}

func FuzzCheckpointReader(f *testing.F) {
	c := checkpointFile{3, 99}
	f.Add(containerOf(f, c, []byte("state"))[checkpointHeader:])
	f.Fuzz(func(t *testing.T, b []byte) {
		all := append(appendCheckpointHeader(nil, c), b...)
		data, err := io.ReadAll(newCheckpointReader(bytes.NewReader(all), c))
		if len(data) > len(b) {
			t.Fatalf("%d bytes out of %d", len(data), len(b))
		}
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
	})
}
