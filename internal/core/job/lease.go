package job

import (
	"math"
	"sync"

	"fiveways.dev/fiveways/internal/core/queue"
)

// Never is a time that never comes, in unix ms.
const Never = math.MaxInt64

// Lease is a message that a worker holds until a certain time.
type Lease struct {
	Handle queue.Handle
	Number uint64 // unique in the queue; later leases have larger numbers
	Until  int64  // unix ms
	Logged bool   // it survives a restart: the message is in the log
	Key    Key    // of the id that the message had when it was taken; zero: unknown after a restart
	First  int64  // unix ms of the job's first enqueue, 0: unknown
	Ended  bool   // the message is being removed, so it can neither be reported nor returned
	at     int    // index in byEnd + 1; 0: not in byEnd
}

// spares are ended leases, to be used again.
var spares = sync.Pool{New: func() any { return new(Lease) }}

// Key is a hash of an id. It is different after a restart.
type Key [16]byte

func (l *Lease) end() (int64, uint64) { return l.Until, l.Number }

func (l *Lease) heapIndex() *int { return &l.at }

// Next returns the number for the next lease.
func (b *Ledger) Next() uint64 { return b.last + 1 }

// Skip skips n numbers, so that the numbers of forgotten leases are not reused.
func (b *Ledger) Skip(n uint64) { b.last += n }

// Lease leases n messages starting at h until a time in unix ms, with consecutive numbers starting
// at number. A message that is already leased with its number gets the new time.
func (b *Ledger) Lease(h queue.Handle, n int, number uint64, until int64, logged bool) {
	for i := range n {
		b.lease(h+queue.Handle(i), number+uint64(i), until, logged)
	}
}

func (b *Ledger) lease(h queue.Handle, number uint64, until int64, logged bool) {
	b.last = max(b.last, number)
	l := b.leases[h]
	if l == nil {
		l = spares.Get().(*Lease)
		*l = Lease{Handle: h}
		b.leases[h] = l
	}
	l.Number, l.Until, l.Logged = number, until, logged
	b.byEnd.Fix(l, l.at)
}

// Leased returns the lease of a message, or nil if it has none.
func (b *Ledger) Leased(h queue.Handle) *Lease { return b.leases[h] }

// Leases returns the number of leases, including those that have Ended.
func (b *Ledger) Leases() int { return len(b.leases) }

// LoggedLeases returns how many of them survive a restart.
func (b *Ledger) LoggedLeases() (n int) {
	for _, l := range b.leases {
		if l.Logged {
			n++
		}
	}
	return n
}

// EachLease calls fn for all leases, in no particular order.
func (b *Ledger) EachLease(fn func(*Lease)) {
	for _, l := range b.leases {
		fn(l)
	}
}

// NextEnd returns when the next lease ends, or Never if there is none.
func (b *Ledger) NextEnd() int64 {
	if len(b.byEnd) == 0 {
		return Never
	}
	return b.byEnd[0].Until
}

// Over returns a lease that has ended by now, or nil if there is none.
func (b *Ledger) Over(now int64) *Lease {
	if b.NextEnd() > now {
		return nil
	}
	return b.byEnd[0]
}

// Finish marks the lease of a message as Ended: its time no longer matters.
func (b *Ledger) Finish(h queue.Handle) {
	if l := b.leases[h]; l != nil && !l.Ended {
		l.Ended = true
		b.byEnd.Remove(l.at)
	}
}

// End removes the leases of n contiguous messages that were returned or are gone.
func (b *Ledger) End(h queue.Handle, n int) {
	if len(b.leases) == 0 {
		return
	}
	if n > len(b.leases) {
		for have := range b.leases {
			if have >= h && have-h < queue.Handle(n) {
				b.end(have)
			}
		}
		return
	}
	for i := range queue.Handle(n) {
		b.end(h + i)
	}
}

func (b *Ledger) end(h queue.Handle) {
	l := b.leases[h]
	if l == nil {
		return
	}
	delete(b.leases, h)
	b.byEnd.Remove(l.at)
	spares.Put(l)
}
