package shardstate

import (
	"fmt"

	"fiveways.dev/fiveways/internal/core/codec"
	"fiveways.dev/fiveways/internal/core/queue"
)

// Machine is the durable state of one shard.
type Machine struct {
	queues  map[uint64]*Queue
	bodies  Bodies
	gone    func(*queue.Item) // releases the body of a removed message; bound once
	scratch Message
}

// Bodies counts the references from queues to message bodies in the log.
type Bodies interface {
	// Retain adds n references to bodies in an entry.
	Retain(index uint64, n int)
	// Release removes n references.
	Release(index uint64, n int)
}

// NewMachine returns a shard without queues. Apply and Restore report references to bodies; for
// changes by a Recorder, the Recorder reports them itself.
func NewMachine(bodies Bodies) *Machine {
	m := &Machine{queues: map[uint64]*Queue{}, bodies: bodies}
	m.gone = func(it *queue.Item) { m.bodies.Release(it.Index, 1) }
	return m
}

// Add registers a durable queue. Queues are created and deleted with the definitions, which have
// their own log.
func (m *Machine) Add(q *Queue) { m.queues[q.ID] = q }

// Drop removes a queue with its contents. Later facts about it change nothing.
func (m *Machine) Drop(id uint64) { delete(m.queues, id) }

// HasJust reports whether the machine has exactly these queues.
func (m *Machine) HasJust(ids []uint64) bool {
	for _, id := range ids {
		if m.queues[id] == nil {
			return false
		}
	}
	return len(ids) == len(m.queues)
}

// Each calls fn for each queue, in no particular order.
func (m *Machine) Each(fn func(*Queue)) {
	for _, q := range m.queues {
		fn(q)
	}
}

// Hash returns a hash that is equal for equal durable contents.
func (m *Machine) Hash() (sum uint64) {
	for _, q := range m.queues {
		sum += q.hash()
	}
	return sum
}

// Apply applies a fact (including its type byte) of an entry; sub is the number of the fact in the
// entry. Errors: ErrMalformed, ErrUnsupported.
func (m *Machine) Apply(index uint64, sub uint32, fact []byte) error {
	if len(fact) == 0 {
		return fmt.Errorf("entry %d.%d: %w", index, sub, ErrMalformed)
	}
	var err error
	switch fact[0] {
	case factStart:
	case factPublish, factCopy, factReplace:
		err = m.applyMessage(index, sub, fact)
	case factSettle, factRequeue, factRetry, factReschedule, factRecount:
		err = m.applySpan(fact)
	case factRemember, factLease, factDone, factLedger:
		err = m.applyLedger(fact)
	case factStream:
		err = m.applyStream(fact[1:])
	default:
		err = fmt.Errorf("%w: fact type %d", ErrUnsupported, fact[0])
	}
	if err != nil {
		return fmt.Errorf("entry %d.%d: %w", index, sub, err)
	}
	return nil
}

// applyMessage replays a publish, or a replacement of a message.
func (m *Machine) applyMessage(index uint64, sub uint32, fact []byte) error {
	msg := &m.scratch
	if err := msg.Decode(fact); err != nil {
		return err
	}
	for i := range msg.Targets {
		t := &msg.Targets[i]
		q := m.queues[t.Queue]
		if q == nil {
			continue
		}
		it := queue.Item{Due: msg.Due, Size: uint32(len(msg.Env.Body())), Flags: queue.Persistent, Index: index, Sub: sub}
		if fact[0] != factReplace {
			q.put(t, &it)
			m.bodies.Retain(index, 1)
			continue
		}
		it.Expires = t.Expires
		if old, ok := q.replace(t.Handle, &it); ok {
			m.bodies.Retain(index, 1)
			m.bodies.Release(old.Index, 1)
		}
	}
	return nil
}

// applySpan replays a change of contiguous messages.
func (m *Machine) applySpan(fact []byte) error {
	s, err := decodeSpan(fact)
	q := m.queues[s.queue]
	if err != nil || q == nil {
		return err
	}
	switch fact[0] {
	case factSettle:
		q.settle(s.handle, s.n, m.gone)
	case factRequeue, factRetry:
		q.giveBack(s.handle, q.State.Given(s.handle, s.n), s.extra)
	case factReschedule:
		if s.extra > 0 {
			q.reschedule(s.handle, s.extra)
		}
	case factRecount:
		q.recount(s.handle, uint32(s.extra))
	}
	return nil
}

// applyLedger replays a change of what a queue remembers in addition to its messages.
func (m *Machine) applyLedger(fact []byte) error {
	switch fact[0] {
	case factRemember:
		id, k, err := decodeKey(fact)
		if q := m.queues[id]; q != nil && err == nil {
			q.remember(&k)
		}
		return err
	case factLease:
		l, err := decodeLeases(fact)
		if q := m.queues[l.queue]; q != nil && err == nil {
			l.n = q.State.Given(l.handle, l.n)
			q.lease(&l, true)
		}
		return err
	case factDone:
		id, d, err := decodeDone(fact)
		if q := m.queues[id]; q != nil && err == nil {
			q.done(&d)
		}
		return err
	}
	r := codec.NewReader(fact[1:])
	id := r.Uvarint()
	if r.End() != nil {
		return ErrMalformed
	}
	if q := m.queues[id]; q != nil {
		q.useForJobs()
	}
	return nil
}
