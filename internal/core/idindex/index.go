package idindex

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"

	"fiveways.dev/fiveways/internal/core/queue"
)

// Sum is a hash of a message-id.
type Sum [16]byte

// SumOf returns the hash of an id: a part of its SHA-256, so that no client can make two ids
// collide.
func SumOf(id []byte) Sum {
	sum := sha256.Sum256(id)
	return Sum(sum[:])
}

// Compare orders sums.
func (s Sum) Compare(o Sum) int { return bytes.Compare(s[:], o[:]) }

// Index is a linear-hashing table of 32 bytes and a bucket of 4 for each message: it grows by one
// bucket at a time, so no publish waits for a large copy.
//
// Invariant: the entries of one id in a bucket are in order of age, the youngest first.
type Index struct {
	pages   [][]Entry  // entry e is pages[e/entryPage][e%entryPage]; entry 0 is none
	made    uint32     // entries ever used, with entry 0
	free    uint32     // list of entries to reuse
	used    int        // entries in buckets
	buckets [][]uint32 // bucket i is buckets[i/bucketPage][i%bucketPage]: its youngest entry, 0 when it is empty
	n       uint32     // buckets
	half    uint32     // the largest power of two that is not above n
	sweep   uint32     // the next bucket to clean
}

// Entry is one message.
type Entry struct {
	Handle queue.Handle
	Slot   uint32 // stands for the queue

	sum  Sum
	next uint32 // in the bucket, or in the list of entries to reuse
}

const (
	entryPage  = 256
	bucketPage = 1024
)

// New is an empty index.
func New() *Index {
	x := &Index{made: 1, n: 1, half: 1}
	x.buckets = [][]uint32{make([]uint32, bucketPage)}
	return x
}

// Entry returns an entry by its number, as First and Next return it.
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

// split adds a bucket, which gets its part of another one.
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

// Len returns how many entries there are, including those of messages that are gone.
func (x *Index) Len() int { return x.used }

// Room returns how many entries the memory can hold.
func (x *Index) Room() int { return len(x.pages) * entryPage }

// There may be as many entries of gone messages as of live ones, and Slack more.
const (
	Slack     = 1024
	cleanLook = 1024 // buckets
)

// Tidied keeps the index small when messages go and none arrive. It frees some of the entries for
// which gone returns true if they are many, and returns a new index if this one has room for far
// more than the live messages need.
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
