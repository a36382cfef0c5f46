package definitions

import (
	"sync"

	"fiveways.dev/fiveways/internal/core/catalog"
)

// sequences hands out numbers, each only once. Numbers are reserved in the log of the definitions
// in blocks. The next block is reserved before the current one is used up, so that callers rarely
// wait for the disk. Numbers of a block that are left at a stop or a crash are never used.
type sequences struct {
	journal *Journal

	mu     sync.Mutex
	byName map[string]*sequence
}

// sequence is one sequence of numbers.
//
// Invariant: next <= durable <= asked; the last two differ while a reservation is under way.
type sequence struct {
	name string

	mu      sync.Mutex
	cond    *sync.Cond
	next    int64 // the first unused number
	durable int64 // numbers below it are reserved
	asked   int64 // numbers below it will be reserved when the pending reservation is durable
	block   int64 // size of reservations; 0 before the first of this run
	err     error // no further reservations are possible
}

// Blocks grow when a caller has to wait for one.
const (
	sequenceBlock = 4096
	longestBlock  = 1 << 20
)

// next implements Admin.Sequence.
func (qs *sequences) next(name string, n int) (first int64, err error) {
	if err := catalog.CheckLength("sequence", name); err != nil {
		return 0, err
	}
	q := qs.get(name)
	q.mu.Lock()
	defer q.mu.Unlock()
	count := int64(max(n, 1))
	for q.next+count > q.durable {
		if q.err != nil {
			return 0, q.err
		}
		if q.asked == q.durable {
			q.block = min(max(2*q.block, sequenceBlock), longestBlock)
			qs.reserve(q, count)
		}
		q.cond.Wait()
	}
	first = q.next
	q.next += count
	if q.durable-q.next < q.block/2 && q.asked == q.durable && q.err == nil {
		qs.reserve(q, 0)
	}
	return first, nil
}

// get returns a sequence, and loads it at the first call.
func (qs *sequences) get(name string) *sequence {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	q := qs.byName[name]
	if q == nil {
		first := qs.reserved(name)
		q = &sequence{name: name, next: first, durable: first, asked: first}
		q.cond = sync.NewCond(&q.mu)
		qs.byName[name] = q
	}
	return q
}

// reserved returns the first number of a sequence that was never reserved.
func (qs *sequences) reserved(name string) int64 {
	qs.journal.Lock()
	defer qs.journal.Unlock()
	return max(qs.journal.State.Reserved(name), 1)
}

// reserve reserves the next block and at least least further numbers, in the background. The caller
// holds q.mu.
func (qs *sequences) reserve(q *sequence, least int64) {
	q.asked = q.durable + q.block + least
	upTo := q.asked
	go func() {
		j := qs.journal
		j.Lock()
		f := catalog.Reserve(q.name, upTo)
		j.State.ApplySequence(f)
		index := j.Record(f.Append(nil))
		j.Unlock()
		err := j.Await(index)
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.err = err; err == nil {
			q.durable = upTo
		}
		q.cond.Broadcast()
	}()
}
