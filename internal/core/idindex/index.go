package idindex

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"

	"fiveways.dev/fiveways/internal/core/queue"
)

// Sum is a hash of a message-id.
type Sum [16]byte

// SumOf returns the hash of an id. It is a part of the SHA-256, so that no client can make two ids
// collide.
func SumOf(id []byte) Sum {
	sum := sha256.Sum256(id)
	return Sum(sum[:])
}

// Compare orders sums.
func (s Sum) Compare(o Sum) int { return bytes.Compare(s[:], o[:]) }

// Index is a linear-hashing table with 32 bytes and a bucket of 4 bytes for each message. It grows
// by one bucket at a time, so no publish waits for a large copy.
//
// Invariant: the entries of one id in a bucket are in order of age, youngest first.
type Index struct {
	pages   [][]Entry  // entry e is pages[e/entryPage][e%entryPage]; entry 0 is unused
	made    uint32     // entries ever used, including entry 0
	free    uint32     // list of reusable entries
	used    int        // entries in buckets
	buckets [][]uint32 // bucket i is buckets[i/bucketPage][i%bucketPage]: its youngest entry, 0 if it is empty
	n       uint32     // number of buckets
	half    uint32     // the largest power of two up to n
	sweep   uint32     // the next bucket to clean
}

// Entry is one message.
type Entry struct {
	Handle queue.Handle
	Slot   uint32 // identifies the queue

	sum  Sum
	next uint32 // in the bucket, or in the list of reusable entries
}

const (
	entryPage  = 256
	bucketPage = 1024
)

// New returns an empty index.
func New() *Index {
	x := &Index{made: 1, n: 1, half: 1}
	x.buckets = [][]uint32{make([]uint32, bucketPage)}
	return x
}

// Entry returns the entry with this number; First and Next return such numbers.
func (x *Index) Entry(e uint32) *Entry { return &x.pages[e/entryPage][e%entryPage] }

func (x *Index) bucket(i uint32) *uint32 { return &x.buckets[i/bucketPage][i%bucketPage] }

// place returns the number of an id's bucket.
func (x *Index) place(sum *Sum) uint32 {
	i := binary.LittleEndian.Uint32(sum[:]) & (2*x.half - 1)
	if i >= x.n {
		i -= x.half
	}
	return i
}

// Add adds a message as the youngest.
func (x *Index) Add(sum Sum, slot uint32, h queue.Handle) {
	e := x.free
	if e != 0 {
		x.free = x.Entry(e).next
	} else {
		e = x.made
		x.made++
		if int(e/entryPage) == len(x.pages) {
			x.pages = append(x.pages, make([]Entry, entryPage))
		}
	}
	link := x.bucket(x.place(&sum))
	*x.Entry(e) = Entry{Handle: h, Slot: slot, sum: sum, next: *link}
	*link = e
	if x.used++; x.used > int(x.n) {
		x.split()
	}
}

// split adds a bucket and moves its part of another bucket's entries into it.
func (x *Index) split() {
	from, to := x.n-x.half, x.n
	if int(to/bucketPage) == len(x.buckets) {
		x.buckets = append(x.buckets, make([]uint32, bucketPage))
	}
	x.n++
	e := *x.bucket(from)
	kept, moved := x.bucket(from), x.bucket(to)
	for e != 0 {
		en := x.Entry(e)
		if x.place(&en.sum) == to {
			*moved, moved = e, &en.next
		} else {
			*kept, kept = e, &en.next
		}
		e = en.next
	}
	*kept, *moved = 0, 0
	if x.n == 2*x.half {
		x.half = x.n
	}
}

// First returns the number of the youngest entry with an id, 0 if there is none.
func (x *Index) First(sum Sum) uint32 { return x.match(*x.bucket(x.place(&sum)), &sum) }

// Next returns the number of the next older entry with the id of e, 0 if there is none.
func (x *Index) Next(e uint32) uint32 {
	en := x.Entry(e)
	return x.match(en.next, &en.sum)
}

func (x *Index) match(e uint32, sum *Sum) uint32 {
	for e != 0 && x.Entry(e).sum != *sum {
		e = x.Entry(e).next
	}
	return e
}

// Clean visits n buckets and frees the entries for which gone returns true.
func (x *Index) Clean(n int, gone func(*Entry) bool) {
	for range n {
		if x.sweep >= x.n {
			x.sweep = 0
		}
		link := x.bucket(x.sweep)
		x.sweep++
		for e := *link; e != 0; e = *link {
			en := x.Entry(e)
			if !gone(en) {
				link = &en.next
				continue
			}
			*link = en.next
			en.next, x.free = x.free, e
			x.used--
		}
	}
}

// rebuilt returns a table without the entries for which gone returns true, no larger than needed.
func (x *Index) rebuilt(gone func(*Entry) bool) *Index {
	small := New()
	var list []*Entry
	for i := range x.n {
		list = list[:0]
		for e := *x.bucket(i); e != 0; e = x.Entry(e).next {
			if en := x.Entry(e); !gone(en) {
				list = append(list, en)
			}
		}
		for j := len(list) - 1; j >= 0; j-- { // the youngest last
			small.Add(list[j].sum, list[j].Slot, list[j].Handle)
		}
	}
	return small
}

// Len returns the number of entries, including those of messages that are gone.
func (x *Index) Len() int { return x.used }

// Room returns how many entries the memory can hold.
func (x *Index) Room() int { return len(x.pages) * entryPage }

// Entries of gone messages may outnumber live ones by at most Slack.
const (
	Slack     = 1024
	cleanLook = 1024 // buckets
)

// Tidied keeps the index small if messages are removed and none arrive. If many entries are gone,
// it frees some of them. It returns a new index if this one has room for far more than the live
// messages need.
func (x *Index) Tidied(live int, gone func(*Entry) bool) *Index {
	switch {
	case int(x.made) <= Slack:
	case int(x.made) > 8*(live+Slack):
		return x.rebuilt(gone)
	case x.used > 2*live+Slack:
		x.Clean(cleanLook, gone)
	}
	return x
}
