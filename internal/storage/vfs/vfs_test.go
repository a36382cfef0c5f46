package vfs

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// TestConformance runs the same script on every implementation.
func TestConformance(t *testing.T) {
	for name, fsys := range map[string]FS{"os": OS{}, "mem": NewMem(), "errors": NewErrors(NewMem())} {
		t.Run(name, func(t *testing.T) { conform(t, fsys, filepath.Join(t.TempDir(), "a", "b")) })
	}
}

func conform(t *testing.T, fsys FS, dir string) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(fsys.MkdirAll(dir))
	path := func(name string) string { return filepath.Join(dir, name) }
	if _, err := fsys.Open(path("none")); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("Open of nothing: %v", err)
	}
	if _, err := fsys.Stat(path("none")); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("Stat of nothing: %v", err)
	}
	f, err := fsys.Create(path("x"))
	must(err)
	_, err = f.WriteAt([]byte("world"), 6)
	must(err)
	_, err = f.WriteAt([]byte("hello"), 0)
	must(err)
	must(f.Truncate(9))
	must(f.Datasync())
	must(f.Close())
	must(fsys.Rename(path("x"), path("y")))
	must(fsys.SyncDir(dir))
	f, err = fsys.Open(path("y"))
	must(err)
	b := make([]byte, 20)
	n, err := f.ReadAt(b, 0)
	if string(b[:n]) != "hello\x00wor" || err != io.EOF {
		t.Fatalf("read %q, %v", b[:n], err)
	}
	if _, err := f.WriteAt([]byte("x"), 0); err == nil {
		t.Fatal("write to a file that is open for reading")
	}
	must(f.Close())
	if size, err := fsys.Stat(path("y")); size != 9 || err != nil {
		t.Fatalf("Stat = %d, %v", size, err)
	}
	lock, err := fsys.Lock(path("LOCK"))
	must(err)
	if _, err := fsys.Lock(path("LOCK")); !errors.Is(err, ErrLocked) {
		t.Fatalf("second Lock: %v", err)
	}
	must(lock.Close())
	lock, err = fsys.Lock(path("LOCK"))
	must(err)
	must(lock.Close())
	names, err := fsys.List(dir)
	must(err)
	if names = slices.DeleteFunc(names, func(n string) bool { return n == "LOCK" }); !slices.Equal(names, []string{"y"}) {
		t.Fatalf("List = %v", names)
	}
	if free, err := fsys.Free(dir); free == 0 || err != nil {
		t.Fatalf("Free = %d, %v", free, err)
	}
	must(fsys.Remove(path("y")))
	if _, err := fsys.Open(path("y")); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("Open of a removed file: %v", err)
	}
}

func TestCrashCloneKeepsWhatWasSynced(t *testing.T) {
	m := NewMem()
	m.MkdirAll("/d")
	old := bytes.Repeat([]byte{1}, 3*pageBytes)
	f, _ := m.Create("/d/kept")
	f.WriteAt(old, 0)
	f.Datasync()
	m.SyncDir("/d")
	f.WriteAt(bytes.Repeat([]byte{2}, 2*pageBytes), 2*pageBytes)
	m.Create("/d/maybe")
	seen := map[string]bool{}
	for n := range uint64(200) {
		c := m.CrashClone(rand.New(rand.NewPCG(n, 0)))
		g, err := c.Open("/d/kept")
		if err != nil {
			t.Fatalf("a durable name is gone: %v", err)
		}
		size, _ := g.Size()
		b := make([]byte, size)
		g.ReadAt(b, 0)
		if !bytes.Equal(b[:2*pageBytes], old[:2*pageBytes]) {
			t.Fatal("synced bytes that were not overwritten changed")
		}
		page := b[2*pageBytes : 3*pageBytes]
		switch n := bytes.Count(page, []byte{2}); n {
		case 0:
			seen["old page"] = true
		case pageBytes:
			seen["new page"] = true
		default:
			seen["torn page"] = true
		}
		switch size {
		case 3 * pageBytes:
			seen["old size"] = true
		case 4 * pageBytes:
			seen["new size"] = true
		default:
			seen["size between"] = true
		}
		if _, err := c.Stat("/d/maybe"); err == nil {
			seen["unsynced name"] = true
		} else {
			seen["no unsynced name"] = true
		}
	}
	if len(seen) != 8 {
		t.Fatalf("crashes seen: %v, want all 8 kinds", seen)
	}
}

func TestErrors(t *testing.T) {
	mem := NewMem()
	e := NewErrors(mem)
	e.MkdirAll("/d")
	f, err := e.Create("/d/x")
	if err != nil || e.Count() != 2 {
		t.Fatalf("Create: %v, count %d", err, e.Count())
	}
	e.FailAt(3, syscall.EIO)
	if n, err := f.WriteAt([]byte("abcd"), 0); n != 2 || !errors.Is(err, syscall.EIO) {
		t.Fatalf("failing write: %d, %v", n, err)
	}
	e.SetFull(true)
	if _, err := f.WriteAt([]byte("abcd"), 0); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("write to a full disk: %v", err)
	}
	if err := f.Truncate(0); err != nil {
		t.Fatalf("truncate on a full disk: %v", err)
	}
	e.SetFull(false)
	e.FailSync(syscall.EIO)
	if err := f.Datasync(); !errors.Is(err, syscall.EIO) {
		t.Fatalf("failing sync: %v", err)
	}
	e.FailSync(nil)
	e.CrashAt(e.Count() + 2)
	if _, err := f.WriteAt([]byte("abcd"), 0); err != nil || e.Crashed() {
		t.Fatalf("write before the crash: %v", err)
	}
	if _, err := f.WriteAt([]byte("efgh"), 4); !errors.Is(err, ErrCrashed) || !e.Crashed() {
		t.Fatalf("write at the crash: %v", err)
	}
	if _, err := f.WriteAt([]byte("ijkl"), 8); !errors.Is(err, ErrCrashed) {
		t.Fatalf("write after the crash: %v", err)
	}
	if _, err := e.Open("/d/x"); !errors.Is(err, ErrCrashed) {
		t.Fatalf("open after the crash: %v", err)
	}
	if size, _ := mem.Stat("/d/x"); size != 6 {
		t.Fatalf("%d bytes on the crashed disk, want 6", size)
	}
}

// Synced content survives a crash, whatever was written, truncated and recreated before.
func TestMemKeepsWhatWasSynced(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	m := NewMem()
	if err := m.MkdirAll("/d"); err != nil {
		t.Fatal(err)
	}
	open := func() File {
		f, err := m.Create("/d/f")
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := open()
	var want []byte
	for range 2000 {
		switch rng.IntN(10) {
		default:
			p := make([]byte, rng.IntN(40))
			for i := range p {
				p[i] = byte(1 + rng.IntN(255))
			}
			off := rng.IntN(100)
			if _, err := f.WriteAt(p, int64(off)); err != nil {
				t.Fatal(err)
			}
			if end := off + len(p); end > len(want) {
				want = append(want, make([]byte, end-len(want))...)
			}
			copy(want[off:], p)
		case 0, 1:
			size := rng.IntN(120)
			if err := f.Truncate(int64(size)); err != nil {
				t.Fatal(err)
			}
			want = append(want, make([]byte, max(0, size-len(want)))...)[:size]
		case 2:
			f, want = open(), nil
		case 3, 4:
			if f.Datasync() != nil || m.SyncDir("/d") != nil {
				t.Fatal("sync")
			}
			after, err := m.CrashClone(rng).Open("/d/f")
			if err != nil {
				t.Fatal(err)
			}
			got := make([]byte, 200)
			n, err := after.ReadAt(got, 0)
			if err != io.EOF || string(got[:n]) != string(want) {
				t.Fatalf("%v after a crash, %v was synced: %v", got[:n], want, err)
			}
		}
	}
}
