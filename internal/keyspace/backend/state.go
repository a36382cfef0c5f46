package backend

import (
	"bytes"
	"math"
	"sort"

	etcd "go.etcd.io/etcd/server/v3/storage/backend"
	"go.etcd.io/etcd/server/v3/storage/schema"
)

// state is the content of all buckets. A published state is immutable except for its last chunk, of
// which it sees lastN records.
type state struct {
	chunks []*chunk // the bucket of revisions
	lastN  int      // number of visible records of the last chunk

	tables []table // all buckets by name, including the one of revisions (without a map)

	total int64 // bytes of records in chunks
	dead  int64 // of total, bytes of deleted records
}

func isRevisions(b etcd.Bucket) bool { return b.ID() == schema.Key.ID() }

func (s *state) count(i int) int {
	if i == len(s.chunks)-1 {
		return s.lastN
	}
	return s.chunks[i].n
}

// records returns the number of records in the bucket of revisions, including deleted ones that are
// not freed yet.
func (s *state) records() (n int) {
	for i := range s.chunks {
		n += s.count(i)
	}
	return n
}

// place returns the position of the first record of the bucket of revisions that is not less than
// key: the index of its chunk, and its index there.
func (s *state) place(key []byte) (int, int) {
	p := prefix(key)
	// Search for the first chunk that begins after p: key is in the chunk before, or at its
	// beginning. Chunks that begin with the same main revision are rare, so they are searched one
	// by one.
	i := sort.Search(len(s.chunks), func(i int) bool { return s.chunks[i].first > p }) - 1
	for i > 0 && s.chunks[i].first == p && bytes.Compare(s.chunks[i].key(0), key) > 0 {
		i--
	}
	if i < 0 {
		return 0, 0
	}
	return i, s.chunks[i].seek(s.count(i), key)
}

// each visits the live records of the bucket of revisions from a position on until visit returns
// false.
func (s *state) each(i, j int, visit func(key, value []byte) bool) {
	for ; i < len(s.chunks); i, j = i+1, 0 {
		c, n := s.chunks[i], s.count(i)
		for ; j < n; j++ {
			if c.isDead(j) {
				continue
			}
			if key, value := c.record(j); !visit(key, value) {
				return
			}
		}
	}
}

// get returns a live record of the bucket of revisions.
func (s *state) get(key []byte) (k, value []byte, ok bool) {
	i, j := s.place(key)
	if i >= len(s.chunks) || j >= s.count(i) || s.chunks[i].isDead(j) {
		return nil, nil, false
	}
	k, value = s.chunks[i].record(j)
	return k, value, bytes.Equal(k, key)
}

// scan implements etcd's UnsafeRange: without an end it finds only key.
func (s *state) scan(b etcd.Bucket, key, end []byte, limit int64) (keys, values [][]byte) {
	if len(end) == 0 {
		if k, v, ok := s.find(b, key); ok {
			return [][]byte{k}, [][]byte{v}
		}
		return nil, nil
	}
	if limit <= 0 {
		limit = math.MaxInt64
	}
	visit := func(k, v []byte) bool {
		if bytes.Compare(k, end) >= 0 {
			return false
		}
		keys, values = append(keys, k), append(values, v)
		return int64(len(keys)) < limit
	}
	if isRevisions(b) {
		i, j := s.place(key)
		s.each(i, j, visit)
	} else if t := s.table(b.ID()); t != nil {
		t.rows.Ascend(string(key), func(k string, v []byte) bool { return visit([]byte(k), v) })
	}
	return keys, values
}

func (s *state) find(b etcd.Bucket, key []byte) (k, value []byte, ok bool) {
	if isRevisions(b) {
		return s.get(key)
	}
	if t := s.table(b.ID()); t != nil {
		if v, ok := t.rows.Get(string(key)); ok {
			return key, v, true
		}
	}
	return nil, nil, false
}

// forEach visits all records of a bucket in order. A missing bucket is empty.
func (s *state) forEach(id etcd.BucketID, visit func(k, v []byte) error) (err error) {
	step := func(k, v []byte) bool {
		err = visit(k, v)
		return err == nil
	}
	if id == schema.Key.ID() {
		s.each(0, 0, step)
	} else if t := s.table(id); t != nil {
		t.rows.Scan(func(k string, v []byte) bool { return step([]byte(k), v) })
	}
	return err
}

func (s *state) table(id etcd.BucketID) *table {
	for i := range s.tables {
		if s.tables[i].id == id {
			return &s.tables[i]
		}
	}
	return nil
}

// size returns how many bytes the buckets take, and how many of them are live.
func (s *state) size() (taken, live int64) {
	taken, live = s.total, s.total-s.dead
	for i := range s.tables {
		taken += s.tables[i].bytes
		live += s.tables[i].bytes
	}
	return taken, live
}
