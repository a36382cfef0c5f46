package backend

import (
	"github.com/tidwall/btree"
	etcd "go.etcd.io/etcd/server/v3/storage/backend"
)

// table is any bucket other than the one of revisions: a sorted map that is copied lazily before a
// change.
type table struct {
	id    etcd.BucketID
	name  string
	rows  *btree.Map[string, []byte] // nil for the bucket of revisions
	bytes int64
	owned bool // by the writer, since the last publication
}

// rowOverhead is the approximate memory of a row in addition to its bytes.
const rowOverhead = 64

func rowBytes(key string, value []byte) int64 { return int64(len(key)+len(value)) + rowOverhead }

func (t *table) own() {
	if !t.owned {
		t.rows, t.owned = t.rows.Copy(), true
	}
}

func (t *table) put(key string, value []byte) {
	t.own()
	old, replaced := t.rows.Set(key, append([]byte(nil), value...))
	if replaced {
		t.bytes -= rowBytes(key, old)
	}
	t.bytes += rowBytes(key, value)
}

func (t *table) remove(key string) {
	t.own()
	if old, was := t.rows.Delete(key); was {
		t.bytes -= rowBytes(key, old)
	}
}
