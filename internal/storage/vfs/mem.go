package vfs

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
)

// crashPage is the unit in which a disk keeps or loses unsynced bytes, see Mem.CrashClone.
const crashPage = 4096

// Mem is a file system in memory that remembers what was synced. The zero value is not usable; use
// NewMem. Directories exist once MkdirAll has named them and are always durable; names in them are
// not, until SyncDir.
type Mem struct {
	mu     sync.Mutex
	files  map[string]*memNode // what processes see
	synced map[string]*memNode // names that survive a crash, with the node they had at the last SyncDir
	dirs   map[string]bool
	locks  map[string]bool
	free   uint64
}

// memNode is the content of a file. Invariant: guarded by Mem.mu of the file system it lives in.
type memNode struct {
	data   []byte
	synced []byte // content at the last Datasync
	from   int    // data before it, and after to, equals what was synced
	to     int
}

// changed records that data[from:to] differs from what was synced.
func (n *memNode) changed(from, to int) {
	if n.from >= n.to {
		n.from, n.to = from, to
		return
	}
	n.from, n.to = min(n.from, from), max(n.to, to)
}

// NewMem returns an empty file system that reports 1 TiB of free space.
func NewMem() *Mem {
	return &Mem{
		files:  map[string]*memNode{},
		synced: map[string]*memNode{},
		dirs:   map[string]bool{},
		locks:  map[string]bool{},
		free:   1 << 40,
	}
}

// CrashClone returns what a machine may find on its disk after a power failure now: everything that
// was synced, and a random choice of the rest. An unsynced name exists or not. Each 4 KiB page of
// unsynced content is new, old or torn in the middle, and the size is the old one, the new one or
// one in between. Open files and locks are gone.
func (m *Mem) CrashClone(rng *rand.Rand) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := NewMem()
	c.free = m.free
	maps.Copy(c.dirs, m.dirs)
	clones := map[*memNode]*memNode{}
	clone := func(n *memNode) *memNode {
		if clones[n] == nil {
			data := tear(n, rng)
			clones[n] = &memNode{data: data, synced: slices.Clone(data)}
		}
		return clones[n]
	}
	names := maps.Clone(m.synced)
	maps.Copy(names, m.files)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		now, old := m.files[name], m.synced[name]
		kept := now
		if now != old && rng.IntN(2) == 0 {
			kept = old
		}
		if kept != nil {
			c.files[name] = clone(kept)
			c.synced[name] = c.files[name]
		}
	}
	return c
}

// tear mixes the synced and the current content of a file, see CrashClone.
func tear(n *memNode, rng *rand.Rand) []byte {
	size := len(n.data)
	if len(n.synced) != size {
		lo, hi := min(len(n.synced), size), max(len(n.synced), size)
		switch rng.IntN(3) {
		case 0:
			size = len(n.synced)
		case 1:
			size = lo + rng.IntN(hi-lo+1)
		}
	}
	out := make([]byte, size)
	copy(out, n.synced)
	for at := 0; at < size; at += crashPage {
		end := min(at+crashPage, size)
		switch rng.IntN(3) {
		case 1:
			end = at + rng.IntN(end-at+1)
			fallthrough
		case 2:
			if at < len(n.data) {
				copy(out[at:end], n.data[at:])
			}
		}
	}
	return out
}

func (m *Mem) Create(path string) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	path = filepath.Clean(path)
	if !m.dirs[filepath.Dir(path)] {
		return nil, notExist("create", path)
	}
	n := m.files[path]
	if n == nil {
		n = &memNode{}
		m.files[path] = n
	}
	n.data = nil
	return &memFile{fs: m, node: n, writable: true}, nil
}

func (m *Mem) Open(path string) (File, error) { return m.open(path, false) }

func (m *Mem) OpenReadWrite(path string) (File, error) { return m.open(path, true) }

func (m *Mem) open(path string, writable bool) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.files[filepath.Clean(path)]
	if n == nil {
		return nil, notExist("open", path)
	}
	return &memFile{fs: m, node: n, writable: writable}, nil
}

func (m *Mem) Remove(path string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	path = filepath.Clean(path)
	if m.files[path] == nil {
		return notExist("remove", path)
	}
	delete(m.files, path)
	return nil
}

func (m *Mem) Rename(oldPath, newPath string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	oldPath, newPath = filepath.Clean(oldPath), filepath.Clean(newPath)
	n := m.files[oldPath]
	if n == nil {
		return notExist("rename", oldPath)
	}
	delete(m.files, oldPath)
	m.files[newPath] = n
	return nil
}

func (m *Mem) List(dir string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir = filepath.Clean(dir)
	if !m.dirs[dir] {
		return nil, notExist("list", dir)
	}
	var names []string
	for path := range m.files {
		if filepath.Dir(path) == dir {
			names = append(names, filepath.Base(path))
		}
	}
	slices.Sort(names)
	return names, nil
}

func (m *Mem) MkdirAll(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for dir = filepath.Clean(dir); !m.dirs[dir]; dir = filepath.Dir(dir) {
		m.dirs[dir] = true
	}
	return nil
}

func (m *Mem) Stat(path string) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.files[filepath.Clean(path)]
	if n == nil {
		return 0, notExist("stat", path)
	}
	return int64(len(n.data)), nil
}

func (m *Mem) SyncDir(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir = filepath.Clean(dir)
	for path := range m.synced {
		if filepath.Dir(path) == dir && m.files[path] == nil {
			delete(m.synced, path)
		}
	}
	for path, n := range m.files {
		if filepath.Dir(path) == dir {
			m.synced[path] = n
		}
	}
	return nil
}

func (m *Mem) Lock(path string) (io.Closer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	path = filepath.Clean(path)
	if m.locks[path] {
		return nil, fmt.Errorf("vfs: lock %s: %w", path, ErrLocked)
	}
	m.locks[path] = true
	return &memLock{fs: m, path: path}, nil
}

func (m *Mem) Free(string) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.free, nil
}

func notExist(op, path string) error {
	return &fs.PathError{Op: op, Path: path, Err: fs.ErrNotExist}
}

type memLock struct {
	fs   *Mem
	path string
}

func (l *memLock) Close() error {
	l.fs.mu.Lock()
	defer l.fs.mu.Unlock()
	delete(l.fs.locks, l.path)
	return nil
}

type memFile struct {
	fs       *Mem
	node     *memNode
	writable bool
	closed   bool
}

// check is called with fs.mu held.
func (f *memFile) check(write bool) error {
	if f.closed {
		return fs.ErrClosed
	}
	if write && !f.writable {
		return fs.ErrPermission
	}
	return nil
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.check(false); err != nil {
		return 0, err
	}
	if off >= int64(len(f.node.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.node.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.check(true); err != nil {
		return 0, err
	}
	n := f.node
	n.changed(min(int(off), len(n.data)), int(off)+len(p))
	if end := int(off) + len(p); end > len(n.data) {
		n.data = slices.Grow(n.data, end-len(n.data))
		clear(n.data[len(n.data):end])
		n.data = n.data[:end]
	}
	return copy(n.data[off:], p), nil
}

func (f *memFile) Datasync() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.check(true); err != nil {
		return err
	}
	n := f.node
	size := len(n.data)
	n.synced = slices.Grow(n.synced[:min(len(n.synced), size)], size-min(len(n.synced), size))[:size]
	if from, to := min(n.from, size), min(n.to, size); from < to {
		copy(n.synced[from:to], n.data[from:to])
	}
	n.from, n.to = 0, 0
	return nil
}

func (f *memFile) Truncate(size int64) error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.check(true); err != nil {
		return err
	}
	n := f.node
	n.changed(min(int(size), len(n.data)), int(size))
	if grow := int(size) - len(n.data); grow > 0 {
		n.data = append(n.data, make([]byte, grow)...)
	}
	n.data = n.data[:size]
	return nil
}

func (f *memFile) Size() (int64, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.check(false); err != nil {
		return 0, err
	}
	return int64(len(f.node.data)), nil
}

func (f *memFile) Close() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.closed {
		return fs.ErrClosed
	}
	f.closed = true
	return nil
}
