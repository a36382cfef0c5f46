package job

import (
	"cmp"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"slices"

	"fiveways.dev/fiveways/internal/core/codec"
	"fiveways.dev/fiveways/internal/core/queue"
)

// Ledger holds the leases of a queue and the ids that it remembers.
//
// Invariants: a message has at most one lease. Every lease that has not Ended is in byEnd, every
// remembered id in byUntil or recent.
type Ledger struct {
	// Used reports that jobs were enqueued, remembered or taken in the queue. Otherwise messages of
	// the queue are only leased, and need not be jobs.
	Used bool

	last   uint64 // the largest number of any lease so far
	leases map[queue.Handle]*Lease
	byEnd  timeHeap[*Lease]

	done       map[string]*Done
	byUntil    timeHeap[*Done]
	order      []*Done // all of done by Number, and some forgotten ids
	recent     []*Done // ids without a time, oldest first; those not in done are forgotten
	remembered uint64  // number of ids remembered so far
}

// NewLedger returns an empty ledger.
func NewLedger() *Ledger {
	return &Ledger{leases: map[queue.Handle]*Lease{}, done: map[string]*Done{}}
}

// ErrCorrupt is returned by Restore for bytes that AppendTo has not written.
var ErrCorrupt = errors.New("job: corrupt ledger")

// The format of a ledger is
//
//	version u8 | used u8 | last uvarint | leases n uvarint | lease … | ids n uvarint | id …
//	lease: handle uvarint | number uvarint | until uvarint          by handle
//	id:    until uvarint | attempts uvarint | first uvarint | length uvarint | bytes        the first remembered first
//
// It contains only what survives a restart. Version 1 had no used: every queue with a ledger was
// used for jobs.
const ledgerVersion = 2

// AppendTo appends the ledger to dst.
func (b *Ledger) AppendTo(dst []byte) []byte {
	dst = append(dst, ledgerVersion, 0)
	if b.Used {
		dst[len(dst)-1] = 1
	}
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
		dst = codec.AppendUvarints(dst, uint64(l.Handle), l.Number, uint64(l.Until))
	}
	n := 0
	for _, d := range b.byUntil {
		if d.Logged {
			n++
		}
	}
	dst = binary.AppendUvarint(dst, uint64(n))
	for _, d := range b.order {
		if d.Logged && d.at > 0 {
			dst = codec.AppendUvarints(dst, uint64(d.Until), uint64(d.Attempts), uint64(d.First))
			dst = codec.AppendPrefixed(dst, d.ID)
		}
	}
	return dst
}

// Restore replaces the contents with what AppendTo wrote. On an error, which is ErrCorrupt, the
// ledger is empty.
func (b *Ledger) Restore(src []byte) error {
	*b = *NewLedger()
	var r reader
	r.Reset(src)
	used := uint8(1)
	switch r.Uint8() {
	case 1:
	case ledgerVersion:
		used = r.Uint8()
	default:
		return ErrCorrupt
	}
	last := r.Uvarint()
	for n := r.Uvarint(); n > 0 && r.Err() == nil; n-- {
		h, number, until := queue.Handle(r.Uvarint()), r.Uvarint(), r.time()
		if r.Err() == nil {
			b.lease(h, number, until, true)
		}
	}
	for n := r.Uvarint(); n > 0 && r.Err() == nil; n-- {
		d := Done{Until: r.time(), Attempts: uint32(r.Uvarint()), First: r.time(), ID: r.String(), Logged: true}
		if r.Err() == nil {
			b.Remember(&d)
		}
	}
	if r.End() != nil || b.last > last || used > 1 {
		*b = *NewLedger()
		return ErrCorrupt
	}
	b.last, b.Used = last, used == 1
	return nil
}

type reader struct{ codec.Reader }

// time reads a number that fits in a time.
func (r *reader) time() int64 {
	v := r.Uvarint()
	if v > Never {
		r.Fail(ErrCorrupt)
		return 0
	}
	return int64(v)
}

// Hash returns a hash of everything that survives a restart, independent of its order. It is the
// same in all processes, and 0 if nothing survives.
func (b *Ledger) Hash() (sum uint64) {
	mix := func(h, v uint64) uint64 {
		h = (h ^ v) * 0xff51afd7ed558ccd
		return h ^ h>>32
	}
	if b.Used {
		sum = 0x5851f42d4c957f2d
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

// Keys computes Keys of ids. Clients cannot provoke collisions, because the seeds are random at
// each start.
type Keys struct{ a, b maphash.Seed }

// NewKeys chooses random seeds.
func NewKeys() Keys { return Keys{maphash.MakeSeed(), maphash.MakeSeed()} }

// Of returns the key of an id. It is never the zero Key.
func (k Keys) Of(id []byte) (key Key) {
	binary.LittleEndian.PutUint64(key[:], maphash.Bytes(k.a, id))
	binary.LittleEndian.PutUint64(key[8:], maphash.Bytes(k.b, id)|1)
	return key
}
