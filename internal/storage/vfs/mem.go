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
			clones[n] = &memNode{data: data, synced: content{data.size, slices.Clone(data.pages)}}
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
func tear(n *memNode, rng *rand.Rand) content {
	size := n.data.size
	if n.synced.size != size {
		lo, hi := min(n.synced.size, size), max(n.synced.size, size)
		switch rng.IntN(3) {
		case 0:
			size = n.synced.size
		case 1:
			size = lo + rng.IntN(hi-lo+1)
		}
	}
	out := content{size, make([]*page, pagesOf(size))}
	for i := range out.pages {
		at := i * pageBytes
		end := min(size-at, pageBytes)
		kept := end // bytes of the page that the file has
		if i < len(n.synced.pages) {
			out.pages[i] = n.synced.pages[i]
		}
		switch rng.IntN(3) {
		case 1:
			end = rng.IntN(end + 1)
			fallthrough
		case 2:
			now, old := n.data.page(i), n.synced.page(i)
			if end = min(end, n.data.size-at); end > 0 && now != old {
				mixed := *old
				copy(mixed[:], now[:end])
				out.pages[i] = &mixed
			}
		}
		if kept < pageBytes && out.pages[i] != nil {
			cut := *out.pages[i]
			clear(cut[kept:])
			out.pages[i] = &cut
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
	n.data = content{}
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
	return int64(n.data.size), nil
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
	n := f.node.data.readAt(p, int(off))
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
	f.node.writeAt(p, int(off))
	return len(p), nil
}

func (f *memFile) Datasync() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.check(true); err != nil {
		return err
	}
	f.node.sync()
	return nil
}

func (f *memFile) Writeback(_, _ int64) error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	return f.check(true)
}

func (f *memFile) Truncate(size int64) error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.check(true); err != nil {
		return err
	}
	f.node.truncate(int(size))
	return nil
}

func (f *memFile) Size() (int64, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.check(false); err != nil {
		return 0, err
	}
	return int64(f.node.data.size), nil
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
