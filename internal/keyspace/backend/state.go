package backend

import (
	"bytes"
	"math"
	"sort"

	etcd "go.etcd.io/etcd/server/v3/storage/backend"
	"go.etcd.io/etcd/server/v3/storage/schema"
)

// state is all that the buckets hold. A published state is immutable but for its last chunk, of
// which it sees lastN records.
type state struct {
	chunks []*chunk // the bucket of revisions
	lastN  int      // records of the last chunk

	tables []table // all buckets by name, that of revisions among them (without a map)

	total int64 // bytes of records in chunks
	dead  int64 // of these, deleted
}

func isRevisions(b etcd.Bucket) bool { return b.ID() == schema.Key.ID() }

func (s *state) count(i int) int {
	if i == len(s.chunks)-1 {
		return s.lastN
	}
	return s.chunks[i].n
}

// records is how many records the bucket of revisions holds, those included that were deleted and
// not given back yet.
func (s *state) records() (n int) {
	for i := range s.chunks {
		n += s.count(i)
	}
	return n
}

// place finds the first record of the bucket of revisions that is not below key: its chunk, its
// number there.
func (s *state) place(key []byte) (int, int) {
	p := prefix(key)
	// The first chunk that begins behind p: key is in the one before, or it is its begin. Chunks
	// that begin with one main revision are rare, so what is left of them is looked through one by
	// one.
	i := sort.Search(len(s.chunks), func(i int) bool { return s.chunks[i].first > p }) - 1
	for i > 0 && s.chunks[i].first == p && bytes.Compare(s.chunks[i].key(0), key) > 0 {
		i--
	}
	if i < 0 {
		return 0, 0
	}
	return i, s.chunks[i].seek(s.count(i), key)
}

// each visits live records of the bucket of revisions from a place on until visit returns false.
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

// get finds one live record of the bucket of revisions.
func (s *state) get(key []byte) (k, value []byte, ok bool) {
	i, j := s.place(key)
	if i >= len(s.chunks) || j >= s.count(i) || s.chunks[i].isDead(j) {
		return nil, nil, false
	}
	k, value = s.chunks[i].record(j)
	return k, value, bytes.Equal(k, key)
}

// scan is etcd's UnsafeRange: with no end it finds key alone.
func (s *state) scan(b etcd.Bucket, key, end []byte, limit int64) (keys, values [][]byte) {
	if len(end) == 0 {
		if k, v, ok := s.find(b, key); ok {
			found := &[2][]byte{k, v} // a page of keys asks for each alone: one allocation for both
			return found[:1:1], found[1:]
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

// forEach visits all of a bucket in order; a bucket that is not there is empty.
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

// size tells how many bytes the buckets take, and how many of these hold something.
func (s *state) size() (taken, live int64) {
	taken, live = s.total, s.total-s.dead
	for i := range s.tables {
		taken += s.tables[i].bytes
		live += s.tables[i].bytes
	}
	return taken, live
}
