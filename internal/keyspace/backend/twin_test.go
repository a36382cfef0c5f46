package backend

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	etcd "go.etcd.io/etcd/server/v3/storage/backend"
	"go.etcd.io/etcd/server/v3/storage/schema"
)

// naive models the same buckets as maps that are copied for every reader.
type naive map[string]map[string]string

func (n naive) clone() naive {
	c := naive{}
	for name, rows := range n {
		c[name] = maps.Clone(rows)
	}
	return c
}

func (n naive) scan(b etcd.Bucket, key, end []byte, limit int64) (rows []string) {
	all := n[string(b.Name())]
	if end == nil {
		end, limit = append(bytes.Clone(key), 0), 1
	}
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if k >= string(key) && k < string(end) && (limit <= 0 || int64(len(rows)) < limit) {
			rows = append(rows, k+"="+all[k])
		}
	}
	return rows
}

func joined(keys, values [][]byte) (rows []string) {
	for i := range keys {
		rows = append(rows, string(keys[i])+"="+string(values[i]))
	}
	return rows
}

func revision(main, sub uint64, tombstone bool) []byte {
	key := binary.BigEndian.AppendUint64(nil, main)
	key = append(key, '_')
	key = binary.BigEndian.AppendUint64(key, sub)
	if tombstone {
		key = append(key, 't')
	}
	return key
}

// twin applies random operations to a Backend and to maps, and compares what readers see, including
// old ones.
type twin struct {
	t     *testing.T
	rng   *rand.Rand
	b     *Backend
	want  naive
	main  uint64
	sub   uint64
	keys  [][]byte // of the bucket of revisions, in order
	views []pair
}

type pair struct {
	tx   etcd.ReadTx
	want naive
}

func (w *twin) value() []byte {
	size := w.rng.IntN(200)
	switch w.rng.IntN(300) {
	case 0:
		size = chunkBytes + w.rng.IntN(chunkBytes)
	case 1, 2, 3:
		size = chunkBytes / 3
	}
	if w.rng.IntN(4) == 0 {
		size += w.rng.IntN(20000)
	}
	v := bytes.Repeat([]byte{byte(w.rng.Uint32())}, size)
	return v
}

func (w *twin) write() {
	tx := w.b.BatchTx()
	tx.LockOutsideApply()
	defer tx.Unlock()
	w.main++
	if w.rng.IntN(20) == 0 {
		w.main += w.rng.Uint64N(1000)
	}
	w.sub = 0
	for range 1 + w.rng.IntN(20) {
		switch w.rng.IntN(12) {
		case 0, 1:
			w.deleteSome(tx)
		case 2, 3:
			bucket := []etcd.Bucket{schema.Meta, schema.Lease, schema.Auth}[w.rng.IntN(3)]
			key := fmt.Sprint("k", w.rng.IntN(30))
			if w.rng.IntN(3) == 0 {
				tx.UnsafeDelete(bucket, []byte(key))
				delete(w.want[string(bucket.Name())], key)
			} else {
				v := w.value()
				tx.UnsafePut(bucket, []byte(key), v)
				w.want[string(bucket.Name())][key] = string(v)
			}
		default:
			key, v := revision(w.main, w.sub, w.rng.IntN(5) == 0), w.value()
			w.sub += 1 + w.rng.Uint64N(2)
			tx.UnsafeSeqPut(schema.Key, key, v)
			w.want["key"][string(key)] = string(v)
			w.keys = append(w.keys, key)
		}
	}
	w.compare(tx, w.want)
}

// deleteSome deletes like a compaction: most of the old records, and sometimes everything.
func (w *twin) deleteSome(tx etcd.BatchTx) {
	from, n, keep := w.rng.IntN(len(w.keys)+1), w.rng.IntN(200), w.rng.IntN(4)
	if w.rng.IntN(60) == 0 {
		from, n, keep = 0, len(w.keys), 0
	}
	for _, key := range w.keys[from:min(from+n, len(w.keys))] {
		if keep == 0 || w.rng.IntN(keep) == 0 {
			tx.UnsafeDelete(schema.Key, key)
			delete(w.want["key"], string(key))
		}
	}
	w.keys = slices.DeleteFunc(w.keys, func(k []byte) bool { _, there := w.want["key"][string(k)]; return !there })
}

func (w *twin) compare(tx etcd.UnsafeReader, want naive) {
	w.t.Helper()
	for range 4 {
		bucket := []etcd.Bucket{schema.Key, schema.Key, schema.Meta, schema.Lease, schema.Auth}[w.rng.IntN(5)]
		key, end := []byte(fmt.Sprint("k", w.rng.IntN(30))), []byte(fmt.Sprint("k", w.rng.IntN(30)))
		if isRevisions(bucket) {
			key, end = revision(w.rng.Uint64N(w.main+2), w.rng.Uint64N(8), false), revision(w.rng.Uint64N(w.main+2), 3, false)
			if len(w.keys) > 0 && w.rng.IntN(2) == 0 {
				key = w.keys[w.rng.IntN(len(w.keys))]
			}
		}
		limit := int64(w.rng.IntN(50))
		if w.rng.IntN(2) == 0 {
			end, limit = nil, 1
		}
		if got, want := joined(tx.UnsafeRange(bucket, key, end, limit)), want.scan(bucket, key, end, limit); !slices.Equal(got, want) {
			w.t.Fatalf("%s %x to %x limit %d: %d rows, want %d", bucket, key, end, limit, len(got), len(want))
		}
	}
}

func (w *twin) compareAll(tx etcd.UnsafeReader, want naive) {
	w.t.Helper()
	for _, bucket := range []etcd.Bucket{schema.Key, schema.Meta, schema.Lease, schema.Auth} {
		var got []string
		_ = tx.UnsafeForEach(bucket, func(k, v []byte) error {
			got = append(got, string(k)+"="+string(v))
			return nil
		})
		if all := want.scan(bucket, nil, []byte("\xff\xff"), 0); !slices.Equal(got, all) {
			w.t.Fatalf("%s: %d rows, want %d", bucket, len(got), len(all))
		}
	}
}

func newTwin(t *testing.T, seed uint64) *twin {
	w := &twin{t: t, rng: rand.New(rand.NewPCG(seed, 1)), b: New(t.TempDir()), want: naive{}}
	tx := w.b.BatchTx()
	tx.LockOutsideApply()
	for _, bucket := range []etcd.Bucket{schema.Key, schema.Meta, schema.Lease, schema.Auth} {
		tx.UnsafeCreateBucket(bucket)
		w.want[string(bucket.Name())] = map[string]string{}
	}
	tx.Unlock()
	return w
}

func TestTwin(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newTwin(t, seed)
			for range 250 {
				w.write()
				switch w.rng.IntN(10) {
				case 0, 1, 2:
					w.views = append(w.views, pair{w.b.ConcurrentReadTx(), w.want.clone()})
				case 3:
					tx := w.b.ReadTx()
					tx.RLock()
					w.compare(tx, w.want)
					tx.RUnlock()
				case 4:
					if w.rng.IntN(5) == 0 {
						_ = w.b.Defrag()
					}
				}
				for len(w.views) > 8 {
					i := w.rng.IntN(len(w.views))
					w.compareAll(w.views[i].tx, w.views[i].want)
					w.views[i].tx.RUnlock()
					w.views = slices.Delete(w.views, i, i+1)
				}
			}
			w.finish()
		})
	}
}

// finish ends all readers and checks what is left: the content, its dump and its size.
func (w *twin) finish() {
	t := w.t
	for _, v := range w.views {
		w.compareAll(v.tx, v.want)
		v.tx.RUnlock()
	}
	if n := w.b.OpenReadTxN(); n != 0 {
		t.Errorf("%d readers are left", n)
	}
	var dump bytes.Buffer
	if err := w.b.Freeze(7).Write(&dump); err != nil {
		t.Fatal(err)
	}
	other := newTwin(t, 99)
	other.write()
	if index, err := other.b.Load(&dump); err != nil || index != 7 {
		t.Fatal(index, err)
	}
	tx := other.b.ConcurrentReadTx()
	other.compareAll(tx, w.want)
	tx.RUnlock()
	_ = w.b.Defrag()
	if w.b.Size() != w.b.SizeInUse() || w.b.Size() != other.b.Size() {
		t.Errorf("after Defrag %d bytes, in use %d, loaded anew %d", w.b.Size(), w.b.SizeInUse(), other.b.Size())
	}
	if mine, loaded := hashOf(t, w.b), hashOf(t, other.b); mine != loaded {
		t.Errorf("hash %08x, loaded anew %08x", mine, loaded)
	}
}

func hashOf(t *testing.T, b etcd.Backend) uint32 {
	t.Helper()
	h, err := b.Hash(schema.DefaultIgnores)
	if err != nil {
		t.Fatal(err)
	}
	return h
}
