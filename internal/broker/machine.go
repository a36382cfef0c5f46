package broker

import (
	"fmt"

	"fiveways/internal/core/dedup"
	"fiveways/internal/core/job"
	"fiveways/internal/core/queue"
	"fiveways/internal/core/stream"
	"fiveways/internal/storage/store"
)

// machine is the durable state of one shard: for each durable queue the
// persistent messages that live in it. Its methods are pure: no clock, no I/O,
// no map order. Deciding and replaying both go through them, so replaying the
// log gives the state that was there (checked by hash in the tests). Facts
// about unknown queues or settled messages change nothing.
type machine struct {
	queues   map[uint64]*queue.State
	memories map[uint64]*dedup.Memory // of those that take one message per key
	streams  map[uint64]*stream.Stream
	books    map[uint64]*job.Book // of those that are used for jobs
}

// apply replays one fact (type byte and payload) of entry index, number sub.
// retain is told of every reference to a body that the fact makes.
func (m *machine) apply(index uint64, sub uint32, fact []byte, scratch *published, retain func(index uint64, n int)) error {
	if len(fact) == 0 {
		return fmt.Errorf("entry %d.%d: %w", index, sub, errMalformedFact)
	}
	var err error
	switch fact[0] {
	case factPublish, factCopy:
		if err = decodePublish(fact, scratch); err == nil {
			m.applyPublish(index, sub, scratch, retain)
		}
	case factSettle, factRequeue, factRetry:
		var id uint64
		var h queue.Handle
		var n int
		var due int64
		if id, h, n, due, err = decodeRange(fact[1:], fact[0] == factRetry); err == nil {
			st := m.queues[id]
			if st == nil {
				break
			}
			m.endLeases(id, h, n)
			if fact[0] == factSettle {
				st.SettleRange(h, n, func(it *queue.Item) { retain(it.Index, -1) })
				if s := m.streams[id]; s != nil {
					s.Delete(h, n)
				}
			} else {
				returnRange(st, h, n, due)
			}
		}
	case factReschedule:
		var id uint64
		var h queue.Handle
		var due int
		if id, h, due, _, err = decodeRange(fact[1:], false); err == nil && due > 0 {
			if st := m.queues[id]; st != nil {
				st.Reschedule(h, int64(due))
			}
		}
	case factRemember:
		var r remembered
		if r, err = decodeRemember(fact[1:]); err == nil {
			m.applyRemember(&r)
		}
	case factStream:
		err = m.applyStream(fact[1:], func(it *queue.Item) { retain(it.Index, -1) })
	case factReplace:
		if err = decodePublish(fact, scratch); err == nil {
			m.applyReplace(index, sub, scratch, retain)
		}
	case factRecount:
		var id uint64
		var h queue.Handle
		var count int
		if id, h, count, _, err = decodeRange(fact[1:], false); err == nil && m.queues[id] != nil {
			m.queues[id].Recount(h, uint32(count))
		}
	case factLease, factDone, factBook:
		err = m.applyJob(fact)
	case factStart:
	default:
		return fmt.Errorf("entry %d.%d: %w: fact type %d", index, sub, store.ErrUnsupportedFormat, fact[0])
	}
	if err != nil {
		return fmt.Errorf("entry %d.%d: %w", index, sub, err)
	}
	return nil
}

func (m *machine) applyPublish(index uint64, sub uint32, p *published, retain func(uint64, int)) {
	for _, t := range p.targets {
		st := m.queues[t.queue]
		if st == nil {
			continue // deleted since, by a fact of the topology
		}
		it := queue.Item{
			Handle: t.handle, Index: index, Sub: sub, Size: uint32(len(p.env.Body())),
			Expires: t.expires, Due: p.due, Flags: queue.Persistent,
		}
		st.Publish(&it)
		retain(index, 1)
	}
}

// returnRange replays a return of n contiguous messages: each is counted once
// more, wherever it stands, for deliveries are not in the log.
func returnRange(st *queue.State, h queue.Handle, n int, due int64) {
	for i := range n {
		h := h + queue.Handle(i)
		if it, status := st.Get(h); status != queue.Gone {
			st.Return(h, it.Count+1, due)
		}
	}
}

// hash is equal for equal durable content, whatever the order of the map.
func (m *machine) hash() uint64 {
	var sum uint64
	for id, st := range m.queues {
		h := st.Hash() ^ id*0x9E3779B97F4A7C15
		h ^= h >> 29
		sum += h * 0xBF58476D1CE4E5B9
	}
	for id, memory := range m.memories {
		sum += (memory.Hash() ^ id) * 0x94D049BB133111EB
	}
	for id, s := range m.streams {
		sum += (s.Hash() ^ id) * 0xD6E8FEB86659FD93
	}
	for id, book := range m.books {
		sum += (book.Hash() ^ id) * 0xA0761D6478BD642F
	}
	return sum
}
