package shard

import (
	"slices"
)

// Targets are the queues of a message: those of one shard are adjacent, and buffers come last. The
// slice is shared and immutable. Targets take four words, the most that the compiler keeps in
// registers.
type Targets struct {
	queues  []*Queue
	parts   int32 // number of publishes: one for each shard, and one for each buffer
	buffers bool  // some of the queues are buffers
}

// NewTargets returns the targets of a message that goes to queues, which it sorts.
func NewTargets(queues []*Queue) Targets {
	if len(queues) > 1 {
		slices.SortStableFunc(queues, func(a, b *Queue) int { return a.part() - b.part() })
	}
	t := Targets{queues: queues}
	for i, q := range queues {
		if i == 0 || q.shard != queues[i-1].shard || q.buffer != nil {
			t.parts++
		}
		t.buffers = t.buffers || q.buffer != nil
	}
	return t
}

// part is the sort key of a queue: those of one publish are adjacent.
func (q *Queue) part() int {
	n := 2 * int(q.shard.ID)
	if q.buffer != nil {
		n++
	}
	return n
}

// within reports whether all targets are ordinary queues of one shard.
func (t Targets) within(sh *Shard) bool {
	return t.Empty() || t.parts == 1 && !t.buffers && t.queues[0].shard == sh
}

// OnlyCopied reports whether the message reaches only exchanges that keep copies of messages.
func (t Targets) OnlyCopied() bool {
	for _, q := range t.queues {
		if q.buffer == nil || !q.buffer.Keeps {
			return false
		}
	}
	return len(t.queues) > 0
}

// Buffered reports whether one of the queues belongs to an exchange. It is then not yet known
// whether the message reaches a client's queue.
func (t Targets) Buffered() bool { return t.buffers }

// Empty reports whether no queue gets the message.
func (t Targets) Empty() bool { return len(t.queues) == 0 }

// Queues returns the queues, for reading only.
func (t Targets) Queues() []*Queue { return t.queues }

// Names returns the names of the queues that belong to no exchange.
func (t Targets) Names() (all []string) {
	for _, q := range t.queues {
		if q.buffer == nil {
			all = append(all, q.Name)
		}
	}
	return all
}

// Without returns the targets without the queue with a name.
func (t Targets) Without(queue string) Targets {
	if !slices.ContainsFunc(t.queues, func(q *Queue) bool { return q.Name == queue }) {
		return t
	}
	return NewTargets(slices.DeleteFunc(slices.Clone(t.queues), func(q *Queue) bool { return q.Name == queue }))
}

// Parts returns the number of publishes that the queues need: a Confirmer is called once for each.
func (t Targets) Parts() int { return int(t.parts) }

// Each calls fn once per publish, with base completed for it.
func (t Targets) Each(base Op, fn func(*Shard, Op)) {
	for i := 0; i < len(t.queues); {
		end := i + 1
		for end < len(t.queues) && t.queues[end].shard == t.queues[i].shard && t.queues[end].buffer == nil {
			end++
		}
		o := base
		o.Queue, o.More = t.queues[i], t.queues[i+1:end]
		fn(o.Queue.shard, o)
		i = end
	}
}
