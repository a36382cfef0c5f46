package broker

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"

	"fiveways/internal/core/queue"
)

// idSum stands for a message-id; no two ids will ever share one.
type idSum [16]byte

func sumOf(id []byte) idSum {
	sum := sha256.Sum256(id)
	return idSum(sum[:])
}

func (s idSum) compare(o idSum) int { return bytes.Compare(s[:], o[:]) }

// ids knows where messages lie by their message-ids: 32 bytes and a bucket of 4 for each. It is not told when a message goes: entries of
// messages that are gone are found and used again little by little, as others come.
//
// It is a table of linear hashing: it grows by one bucket at a time, so no publish waits for a large copy.
//
// Invariant: what a bucket holds for one id is in the order of age, the youngest first.
type ids struct {
	pages   [][]idEntry // entry e is pages[e/idPage][e%idPage]; entry 0 is none
	made    uint32      // entries ever used, with entry 0
	free    uint32      // list of entries to use again
	used    int         // entries in buckets
	buckets [][]uint32  // bucket i is buckets[i/bucketPage][i%bucketPage]: its youngest entry, 0 when it is empty
	n       uint32      // buckets
	half    uint32      // the largest power of two that is not above n
	sweep   uint32      // the next bucket to clean
}

// idEntry is one message.
type idEntry struct {
	sum  idSum
	h    queue.Handle
	slot uint32 // stands for the queue
	next uint32 // in the bucket, or in the list of free ones
}

const (
	idPage     = 256
	bucketPage = 1024
)

func newIDs() *ids {
	t := &ids{made: 1, n: 1, half: 1}
	t.buckets = [][]uint32{make([]uint32, bucketPage)}
	return t
}

func (t *ids) entry(e uint32) *idEntry { return &t.pages[e/idPage][e%idPage] }

func (t *ids) bucket(i uint32) *uint32 { return &t.buckets[i/bucketPage][i%bucketPage] }

// place is the number of the bucket of an id.
func (t *ids) place(sum *idSum) uint32 {
	i := binary.LittleEndian.Uint32(sum[:]) & (2*t.half - 1)
	if i >= t.n {
		i -= t.half
	}
	return i
}

// add notes a message as the youngest.
func (t *ids) add(sum idSum, slot uint32, h queue.Handle) {
	e := t.free
	if e != 0 {
		t.free = t.entry(e).next
	} else {
		e = t.made
		t.made++
		if int(e/idPage) == len(t.pages) {
			t.pages = append(t.pages, make([]idEntry, idPage))
		}
	}
	link := t.bucket(t.place(&sum))
	*t.entry(e) = idEntry{sum, h, slot, *link}
	*link = e
	if t.used++; t.used > int(t.n) {
		t.split()
	}
}

// split adds a bucket, which takes its part of another one.
func (t *ids) split() {
	from, to := t.n-t.half, t.n
	if int(to/bucketPage) == len(t.buckets) {
		t.buckets = append(t.buckets, make([]uint32, bucketPage))
	}
	t.n++
	e := *t.bucket(from)
	kept, moved := t.bucket(from), t.bucket(to)
	for e != 0 {
		en := t.entry(e)
		if t.place(&en.sum) == to {
			*moved, moved = e, &en.next
		} else {
			*kept, kept = e, &en.next
		}
		e = en.next
	}
	*kept, *moved = 0, 0
	if t.n == 2*t.half {
		t.half = t.n
	}
}

// first is the youngest entry with an id, 0 when there is none; next the one after e.
func (t *ids) first(sum idSum) uint32 { return t.match(*t.bucket(t.place(&sum)), &sum) }

func (t *ids) next(e uint32) uint32 {
	en := t.entry(e)
	return t.match(en.next, &en.sum)
}

func (t *ids) match(e uint32, sum *idSum) uint32 {
	for e != 0 && t.entry(e).sum != *sum {
		e = t.entry(e).next
	}
	return e
}

// clean looks at n buckets and frees the entries of which gone says so.
func (t *ids) clean(n int, gone func(*idEntry) bool) {
	for range n {
		if t.sweep >= t.n {
			t.sweep = 0
		}
		link := t.bucket(t.sweep)
		t.sweep++
		for e := *link; e != 0; e = *link {
			en := t.entry(e)
			if !gone(en) {
				link = &en.next
				continue
			}
			*link = en.next
			en.next, t.free = t.free, e
			t.used--
		}
	}
}

// rebuilt is a table without the entries of which gone says so, and no larger than need be.
func (t *ids) rebuilt(gone func(*idEntry) bool) *ids {
	small := newIDs()
	var list []*idEntry
	for i := range t.n {
		list = list[:0]
		for e := *t.bucket(i); e != 0; e = t.entry(e).next {
			if en := t.entry(e); !gone(en) {
				list = append(list, en)
			}
		}
		for j := len(list) - 1; j >= 0; j-- { // the youngest last
			small.add(list[j].sum, list[j].slot, list[j].h)
		}
	}
	return small
}
