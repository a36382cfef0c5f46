package semaphore

import (
	"hash/maphash"
	"math/bits"
	"strconv"
)

// index finds records by id. It is a linear-hashing table with about as many buckets as records:
// one bucket is split or joined when a record is added or removed, so no operation rehashes
// everything. The records of a bucket are a chain through their field next.
type index struct {
	heads slab[uint32] // first record of each bucket, from 1; 0: none
}

// text is an id that is not a number.
type text struct {
	id   string
	task uint32
}

var (
	hashSeed  = maphash.MakeSeed()
	hashStart = maphash.String(hashSeed, "")
)

// name is an id in the form used for lookups.
type name struct {
	text   string
	number uint64
	isText bool
}

// nameOf returns the name of an id. An id is a number only if formatting the number gives the same
// id.
func nameOf(id string) name {
	if len(id) == 0 || len(id) > 20 || id[0] > '9' {
		return name{text: id, isText: true}
	}
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil || len(id) > 1 && (id[0] == '0' || id[0] == '+' || id[0] == '-' && id[1] == '0') {
		return name{text: id, isText: true}
	}
	return name{number: uint64(n)}
}

func (n name) hash() uint64 {
	if n.isText {
		return maphash.String(hashSeed, n.text)
	}
	high, low := bits.Mul64(n.number^hashStart, 0x9e3779b97f4a7c15)
	return high ^ low
}

// nameOf returns the name of a record.
func (s *State) nameOf(r *record) name {
	if r.isText() {
		return name{text: s.texts.at(uint32(r.id)).id, isText: true}
	}
	return name{number: r.id}
}

func (s *State) idOf(r *record) string {
	if r.isText() {
		return s.texts.at(uint32(r.id)).id
	}
	return strconv.FormatInt(int64(r.id), 10)
}

// head returns the bucket of a hash. The bucket number is the low bits of the hash, one bit less if
// that bucket does not exist yet.
func (x *index) head(hash uint64) *uint32 {
	mask := uint64(1)<<bits.Len32(x.heads.n-1) - 1
	if b := hash & mask; b < uint64(x.heads.n) {
		return x.heads.at(uint32(b))
	}
	return x.heads.at(uint32(hash & (mask >> 1)))
}

// find returns the record with a name.
func (s *State) find(n name) (i uint32, ok bool) {
	if s.records.n == 0 {
		return 0, false
	}
	for next := *s.index.head(n.hash()); next != 0; {
		r := s.records.at(next - 1)
		if r.isText() == n.isText && (n.isText && s.texts.at(uint32(r.id)).id == n.text || !n.isText && r.id == n.number) {
			return next - 1, true
		}
		next = r.next
	}
	return 0, false
}

// indexAdd adds a record to its bucket, and splits the next bucket if there are more records than
// buckets.
func (s *State) indexAdd(i uint32) {
	if s.records.n > s.index.heads.n {
		s.indexSplit()
	}
	r := s.records.at(i)
	head := s.index.head(s.nameOf(r).hash())
	r.next, *head = *head, i+1
}

// indexSplit adds a bucket and moves records into it from the bucket that had them until now.
func (s *State) indexSplit() {
	added := s.index.heads.push(0)
	if added == 0 {
		return
	}
	old := s.index.heads.at(added - 1<<(bits.Len32(added)-1))
	next := *old
	*old = 0
	for next != 0 {
		i, r := next, s.records.at(next-1)
		next = r.next
		head := s.index.head(s.nameOf(r).hash())
		r.next, *head = *head, i
	}
}

// indexRemove removes a record from its bucket.
func (s *State) indexRemove(i uint32) {
	link := s.indexLink(i)
	*link = s.records.at(i).next
}

// indexFit joins the last buckets, at most two, with their other halves if there are too many
// buckets.
func (s *State) indexFit() {
	for n := s.index.heads.n; n > 2*s.records.n+1; n-- {
		s.indexJoin(n - 1)
	}
}

// indexLink returns the field that refers to a record.
func (s *State) indexLink(i uint32) *uint32 {
	link := s.index.head(s.nameOf(s.records.at(i)).hash())
	for *link != i+1 {
		link = &s.records.at(*link - 1).next
	}
	return link
}

// indexJoin removes the last bucket.
func (s *State) indexJoin(last uint32) {
	chain := *s.index.heads.at(last)
	s.index.heads.pop()
	link := s.index.heads.at(last - 1<<(bits.Len32(last)-1))
	for *link != 0 {
		link = &s.records.at(*link - 1).next
	}
	*link = chain
}
