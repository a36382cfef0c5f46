package broker

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// sequences give numbers, each once for ever. What may be given is reserved in the log of the definitions a block at a time, and the
// next block before this one is used up, so that mostly nobody waits for the disk. What a block had left at a stop or a crash is
// never given.
type sequences struct {
	mu     sync.Mutex
	byName map[string]*sequence
}

// sequence is one row of numbers.
//
// Invariant: next <= durable <= asked; the last two differ while a reservation is under way.
type sequence struct {
	name string

	mu      sync.Mutex
	cond    *sync.Cond
	next    int64 // the first that was not given
	durable int64 // those below it are reserved
	asked   int64 // and will be, when the reservation under way is durable
	block   int64 // how many the next reservation is for; 0 before the first of this run
	err     error // there are no more reservations
}

// Blocks grow when somebody has to wait for one.
const (
	sequenceBlock = 4096
	longestBlock  = 1 << 20
)

// Sequence takes n numbers, at least 1, off the sequence of that name, and returns the first of them. They follow each other; the
// first of a new sequence is 1. No call gets what another got, after a crash neither. Errors: ErrInvalidName, ErrLogFailed.
func (b *Broker) Sequence(name string, n int) (first int64, err error) {
	if err := checkLength("sequence", name); err != nil {
		return 0, err
	}
	q := b.sequences.get(name)
	q.mu.Lock()
	defer q.mu.Unlock()
	count := int64(max(n, 1))
	for q.next+count > q.durable {
		if q.err != nil {
			return 0, q.err
		}
		if q.asked == q.durable {
			q.block = min(max(2*q.block, sequenceBlock), longestBlock)
			b.reserve(q, count)
		}
		q.cond.Wait()
	}
	first = q.next
	q.next += count
	if q.durable-q.next < q.block/2 && q.asked == q.durable && q.err == nil {
		b.reserve(q, 0)
	}
	return first, nil
}

// get finds a sequence or begins it.
func (qs *sequences) get(name string) *sequence {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	q := qs.byName[name]
	if q == nil {
		q = &sequence{name: name, next: 1, durable: 1, asked: 1}
		q.cond = sync.NewCond(&q.mu)
		if qs.byName == nil {
			qs.byName = map[string]*sequence{}
		}
		qs.byName[name] = q
	}
	return q
}

// reserve asks for the next block and least numbers more, in the background. q.mu is held.
func (b *Broker) reserve(q *sequence, least int64) {
	q.asked = q.durable + q.block + least
	upTo := q.asked
	go func() {
		c := b.catalog
		c.mu.Lock()
		c.reserved[q.name] = upTo
		index := c.recordData((&sequenceFact{Name: name(q.name), UpTo: upTo}).append(nil))
		c.mu.Unlock()
		err := c.await(index)
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.err = err; err == nil {
			q.durable = upTo
		}
		q.cond.Broadcast()
	}()
}

// factSequence is the fact about sequences: a JSON object in the log of the definitions. Never renumber.
const factSequence = 19

// sequenceFact says that the numbers below UpTo may have been given.
type sequenceFact struct {
	Name name  `json:"name"`
	UpTo int64 `json:"up_to"`
}

func (f *sequenceFact) append(dst []byte) []byte {
	b, err := json.Marshal(f)
	if err != nil {
		panic("broker: a sequence fact cannot be encoded: " + err.Error()) // a plain struct: cannot happen
	}
	return append(appendFact(dst, factSequence, len(b)), b...)
}

// replaySequence replays one fact without its type.
func (c *catalog) replaySequence(index uint64, payload []byte) error {
	var f sequenceFact
	if err := json.Unmarshal(payload, &f); err != nil {
		return fmt.Errorf("topology entry %d: %w", index, err)
	}
	c.index = max(c.index, index)
	q := c.b.sequences.get(string(f.Name))
	q.next = max(q.next, f.UpTo)
	q.durable, q.asked = q.next, q.next
	c.reserved[q.name] = q.next
	return nil
}

// sequenceFacts are all facts that must be replayed to get the sequences, in a fixed order. mu is held.
func (c *catalog) sequenceFacts() (facts []*sequenceFact) {
	for _, n := range slices.Sorted(maps.Keys(c.reserved)) {
		facts = append(facts, &sequenceFact{Name: name(n), UpTo: c.reserved[n]})
	}
	return facts
}
