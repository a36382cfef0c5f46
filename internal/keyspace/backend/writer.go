package backend

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/btree"
	etcd "go.etcd.io/etcd/server/v3/storage/backend"
)

// writer changes a state that others may be reading: it copies the visible parts before it changes
// them.
type writer struct {
	state
	dirty      bool
	ownsList   bool            // chunks was copied since the last publication
	ownsTables bool            // tables was copied since the last publication
	open       bool            // the last chunk has always been last: readers do not use its n and used
	touched    map[*chunk]bool // chunks copied since the last publication
	retired    [][]byte        // memory that no later view can see
}

func (w *writer) create(b etcd.Bucket) {
	if w.table(b.ID()) != nil {
		return
	}
	w.ownTables()
	t := table{id: b.ID(), name: string(b.Name()), rows: new(btree.Map[string, []byte]), owned: true}
	at, _ := slices.BinarySearchFunc(w.tables, t.name, func(t table, name string) int { return strings.Compare(t.name, name) })
	w.tables = slices.Insert(w.tables, at, t)
	w.dirty = true
}

func (w *writer) drop(b etcd.Bucket) {
	w.ownTables()
	w.tables = slices.DeleteFunc(w.tables, func(t table) bool { return t.id == b.ID() })
	w.dirty = true
	if isRevisions(b) {
		for _, c := range w.chunks {
			w.retired = append(w.retired, c.mem)
		}
		w.chunks, w.lastN, w.total, w.dead, w.open, w.ownsList = nil, 0, 0, 0, false, true
	}
}

func (w *writer) put(b etcd.Bucket, key, value []byte) {
	w.mustTable(b)
	w.dirty = true
	if isRevisions(b) {
		w.append(key, value)
		return
	}
	w.ownTables()
	w.mustTable(b).put(string(key), value)
}

func (w *writer) remove(b etcd.Bucket, key []byte) {
	w.mustTable(b)
	w.dirty = true
	if isRevisions(b) {
		w.kill(key)
		return
	}
	w.ownTables()
	w.mustTable(b).remove(string(key))
}

func (w *writer) mustTable(b etcd.Bucket) *table {
	t := w.table(b.ID())
	if t == nil {
		panic(fmt.Sprintf("keyspace: no bucket %q", b.Name()))
	}
	return t
}

func (w *writer) ownTables() {
	if !w.ownsTables {
		w.tables, w.ownsTables = slices.Clone(w.tables), true
	}
}

func (w *writer) ownList() {
	if !w.ownsList {
		w.chunks, w.ownsList = slices.Clone(w.chunks), true
	}
}

// append adds a record at the end of the bucket of revisions.
func (w *writer) append(key, value []byte) {
	size := recordBytes(key, value)
	last := w.last()
	if last != nil && bytes.Compare(last.key(last.n-1), key) >= 0 {
		panic(fmt.Sprintf("keyspace: revision %x put behind %x", key, last.key(last.n-1)))
	}
	switch {
	case last == nil || !last.fits(size):
		last = newChunk(size)
		w.chunks = append(w.chunks, last)
		w.open = true
	case !w.open:
		last = w.own(len(w.chunks) - 1)
		w.open = true
	}
	last.add(key, value)
	w.lastN = last.n
	w.total += int64(size)
}

// last returns the last chunk, which is not empty, or nil.
func (w *writer) last() *chunk {
	if len(w.chunks) == 0 {
		return nil
	}
	return w.chunks[len(w.chunks)-1]
}

// own returns chunk i as a copy that only the writer sees.
func (w *writer) own(i int) *chunk {
	c := w.chunks[i]
	if w.touched[c] {
		return c
	}
	c = c.clone()
	w.ownList()
	w.chunks[i] = c
	if w.touched == nil {
		w.touched = make(map[*chunk]bool)
	}
	w.touched[c] = true
	return c
}

func (w *writer) kill(key []byte) {
	i, j := w.place(key)
	if i >= len(w.chunks) || j >= w.count(i) || w.chunks[i].isDead(j) || !bytes.Equal(w.chunks[i].key(j), key) {
		return
	}
	w.dead += int64(w.own(i).kill(j))
}
