package idindex

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math"

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
// by one bucket at a time and shrinks by a few, so no client waits for a large copy.
//
// Invariants:
//
//   - The entries of one id in a bucket are in order of age, youngest first.
//   - Unused entries at low and above are not in the list of reusable entries.
//   - low ≤ limit ≤ made. If limit < made, the index shrinks: no new entry is at limit or above.
type Index struct {
	pages   [][]Entry  // entry e is pages[e/entryPage][e%entryPage]; entry 0 is unused
	unused  []uint32   // by page: at least the number of its unused entries before made
	made    uint32     // entries that the memory has held, including entry 0
	free    uint32     // list of reusable entries
	low     uint32     // where the search for other unused entries goes on
	limit   uint32     // entries at limit and above are moved below it, to free their memory
	used    int        // entries in buckets
	buckets [][]uint32 // bucket i is buckets[i/bucketPage][i%bucketPage]: its youngest entry, 0 if it is empty
	n       uint32     // number of buckets
	half    uint32     // the largest power of two up to n
	sweep   uint32     // the next bucket to clean
}

// Entry is one message.
type Entry struct {
	Handle queue.Handle
	Slot   uint32 // identifies the queue; noSlot: the entry is unused

	sum  Sum
	next uint32 // in the bucket, or in the list of reusable entries
}

const noSlot = math.MaxUint32

const (
	entryPage  = 256
	bucketPage = 1024
)

// New returns an empty index.
func New() *Index {
	x := &Index{made: 1, low: 1, limit: 1, n: 1, half: 1}
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
	e := x.take()
	link := x.bucket(x.place(&sum))
	*x.Entry(e) = Entry{Handle: h, Slot: slot, sum: sum, next: *link}
	*link = e
	if x.used++; x.used > int(x.n) {
		x.split()
	}
}

// take returns the number of an unused entry, below limit if there is one.
func (x *Index) take() uint32 {
	if e := x.free; e != 0 {
		x.free = x.Entry(e).next
		x.unused[e/entryPage]--
		return e
	}
	for x.low < x.made {
		if x.low == x.limit {
			x.limit = min(x.limit+entryPage, x.made)
		}
		e, page := x.low, x.low/entryPage
		if x.unused[page] == 0 {
			x.low = min((page+1)*entryPage, x.limit)
			continue
		}
		x.low++
		if x.Entry(e).Slot == noSlot {
			x.unused[page]--
			return e
		}
	}
	e := x.made
	if int(e/entryPage) == len(x.pages) {
		x.pages, x.unused = append(x.pages, make([]Entry, entryPage)), append(x.unused, 0)
	}
	x.made++
	x.low, x.limit = x.made, x.made
	return e
}

// release makes an entry unused that is no longer in a bucket.
func (x *Index) release(e uint32) {
	en := x.Entry(e)
	en.Slot = noSlot
	x.unused[e/entryPage]++
	if e < x.low {
		en.next, x.free = x.free, e
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

// merge moves the entries of the last bucket into another one and frees it.
func (x *Index) merge() {
	if x.n == x.half {
		x.half /= 2
	}
	x.n--
	link := x.bucket(x.n - x.half)
	for *link != 0 {
		link = &x.Entry(*link).next
	}
	*link = *x.bucket(x.n)
	if page := x.n / bucketPage; x.n%bucketPage == 0 {
		x.buckets[page] = nil
		x.buckets = x.buckets[:page]
	}
}

// Clean visits n buckets and frees the entries for which gone returns true.
func (x *Index) Clean(n int, gone func(*Entry) bool) {
	for range n {
		if x.sweep >= x.n {
			x.sweep = 0
			x.cut()
		}
		link := x.bucket(x.sweep)
		x.sweep++
		for e := *link; e != 0; e = *link {
			en := x.Entry(e)
			if gone(en) {
				*link = en.next
				x.release(e)
				x.used--
				continue
			}
			if e >= x.limit {
				to := x.take()
				*x.Entry(to) = *en
				*link = to
				x.release(e)
				en = x.Entry(to)
			}
			link = &en.next
		}
	}
}

// shrink begins to move entries: once Clean has visited all buckets, the memory at limit and above
// can be freed.
func (x *Index) shrink(limit int) {
	x.free, x.low, x.limit, x.sweep = 0, 1, uint32(limit), 0
}

// cut frees the memory at limit and above.
func (x *Index) cut() {
	pages := (int(x.limit) + entryPage - 1) / entryPage
	clear(x.pages[pages:])
	x.pages, x.unused, x.made = x.pages[:pages], x.unused[:pages], x.limit
}

// Len returns the number of entries, including those of messages that are gone.
func (x *Index) Len() int { return x.used }

// Room returns how many entries the memory can hold.
func (x *Index) Room() int { return len(x.pages) * entryPage }

// Entries of gone messages may outnumber live ones by at most twice Slack.
const (
	Slack    = 512
	tidyStep = 1024 // buckets
)

// Tidy keeps the index small if messages are removed and none arrive: it frees entries of gone
// messages if there are many, and memory if there is far more than the live messages need. Each
// call does a part of the work, and reports whether more is left.
func (x *Index) Tidy(live int, gone func(*Entry) bool) (more bool) {
	enough := 2 * (live + Slack)
	switch {
	case x.limit < x.made || x.used > enough:
		x.Clean(tidyStep, gone)
	case int(x.made) > 4*enough:
		x.shrink(enough)
	case int(x.n) > 2*enough:
		for range tidyStep {
			x.merge()
		}
	default:
		return false
	}
	return true
}
