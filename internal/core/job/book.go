package job

import (
	"cmp"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"slices"

	"fiveways/internal/core/queue"
)

// Book is the leases of a queue and the ids that it remembers.
//
// Invariants: a message has one lease at most; every lease that has not Ended is in byEnd, every remembered id in byUntil or recent.
type Book struct {
	last   uint64 // the largest number that a lease had
	leases map[queue.Handle]*Lease
	byEnd  timeHeap[*Lease]
	spare  *Lease // of an ended lease, for the next one

	done       map[string]*Done
	byUntil    timeHeap[*Done]
	order      []*Done // all of done by Number, with some that are forgotten
	recent     []*Done // without a time, the first remembered first; those that done does not have are forgotten
	remembered uint64  // ids until now
}

// NewBook is an empty book.
func NewBook() *Book {
	return &Book{leases: map[queue.Handle]*Lease{}, done: map[string]*Done{}}
}

// ErrCorrupt is returned by Restore for bytes that AppendTo did not write.
var ErrCorrupt = errors.New("job: corrupt book")

// A book is
//
//	version u8 | last uvarint | leases n uvarint | lease … | ids n uvarint | id …
//	lease: handle uvarint | number uvarint | until uvarint          by handle
//	id:    until uvarint | attempts uvarint | first uvarint | length uvarint | bytes        the first remembered first
//
// Only what survives a restart is in it.
const bookVersion = 1

// AppendTo appends the book to dst.
func (b *Book) AppendTo(dst []byte) []byte {
	dst = append(dst, bookVersion)
	dst = binary.AppendUvarint(dst, b.last)
	var leases []*Lease
	for _, l := range b.leases {
		if l.Logged {
			leases = append(leases, l)
		}
	}
	slices.SortFunc(leases, func(x, y *Lease) int { return cmp.Compare(x.Handle, y.Handle) })
	dst = binary.AppendUvarint(dst, uint64(len(leases)))
	for _, l := range leases {
		dst = binary.AppendUvarint(dst, uint64(l.Handle))
		dst = binary.AppendUvarint(dst, l.Number)
		dst = binary.AppendUvarint(dst, uint64(l.Until))
	}
	var ids []*Done
	for _, d := range b.byUntil {
		if d.Logged {
			ids = append(ids, d)
		}
	}
	slices.SortFunc(ids, func(x, y *Done) int { return cmp.Compare(x.Number, y.Number) })
	dst = binary.AppendUvarint(dst, uint64(len(ids)))
	for _, d := range ids {
		dst = binary.AppendUvarint(dst, uint64(d.Until))
		dst = binary.AppendUvarint(dst, uint64(d.Attempts))
		dst = binary.AppendUvarint(dst, uint64(d.First))
		dst = binary.AppendUvarint(dst, uint64(len(d.ID)))
		dst = append(dst, d.ID...)
	}
	return dst
}

// Restore replaces the content with what AppendTo wrote. On an error, which is ErrCorrupt, the book is empty.
func (b *Book) Restore(src []byte) error {
	*b = *NewBook()
	r := reader{b: src}
	if r.byte() != bookVersion {
		return ErrCorrupt
	}
	last := r.uvarint()
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		h, number, until := queue.Handle(r.uvarint()), r.uvarint(), r.time()
		if !r.bad {
			b.lease(h, number, until, true)
		}
	}
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		d := Done{Until: r.time(), Attempts: uint32(r.uvarint()), First: r.time(), Logged: true}
		d.ID = string(r.bytes(r.uvarint()))
		if !r.bad {
			b.Remember(&d)
		}
	}
	if r.bad || len(r.b) > 0 || b.last > last {
		*b = *NewBook()
		return ErrCorrupt
	}
	b.last = last
	return nil
}

// reader reads fields; the first failure sticks.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) byte() byte {
	if v := r.bytes(1); len(v) > 0 {
		return v[0]
	}
	return 0
}

func (r *reader) bytes(n uint64) []byte {
	if r.bad || n > uint64(len(r.b)) {
		r.bad = true
		return nil
	}
	v := r.b[:n]
	r.b = r.b[n:]
	return v
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if r.bad || n <= 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

// time is a number that fits a time.
func (r *reader) time() int64 {
	v := r.uvarint()
	if v > Never {
		r.bad = true
		return 0
	}
	return int64(v)
}

// Hash is a fingerprint of what survives a restart, whatever the order in which it came. It is the same in all processes.
func (b *Book) Hash() (sum uint64) {
	mix := func(h, v uint64) uint64 {
		h = (h ^ v) * 0xff51afd7ed558ccd
		return h ^ h>>32
	}
	for _, l := range b.leases {
		if l.Logged {
			sum += mix(mix(mix(0x9e3779b97f4a7c15, uint64(l.Handle)), l.Number), uint64(l.Until))
		}
	}
	for _, d := range b.done {
		if d.Logged {
			h := mix(mix(mix(0xc2b2ae3d27d4eb4f, uint64(d.Until)), uint64(d.Attempts)), uint64(d.First))
			for i := range len(d.ID) {
				h = mix(h, uint64(d.ID[i]))
			}
			sum += h
		}
	}
	return sum
}

// Keys makes Keys of ids. No two ids share one but by a chance that nobody can choose: the seeds are drawn anew at each start.
type Keys struct{ a, b maphash.Seed }

// NewKeys draws the seeds.
func NewKeys() Keys { return Keys{maphash.MakeSeed(), maphash.MakeSeed()} }

// Of is the key of an id; never the zero Key.
func (k Keys) Of(id []byte) (key Key) {
	binary.LittleEndian.PutUint64(key[:], maphash.Bytes(k.a, id))
	binary.LittleEndian.PutUint64(key[8:], maphash.Bytes(k.b, id)|1)
	return key
}
