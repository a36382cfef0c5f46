package lists

import (
	"errors"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
)

// Pop takes ready messages off a queue for good: those that would be delivered first, with Back
// those that would be last, one after the other.
type Pop struct {
	broker.OnQueue
	Back   bool
	Max    int      // at most this many; fewer when they take more than a quarter of the memory that the broker may use
	Create bool     // a durable queue is made when there is none, so that Await can wait at it
	Unless *Pop     // nothing happens when that one has got something or failed; it comes before this one in the same call
	Bodies [][]byte // not to be changed
	Left   int      // how many are ready then
}

// Find implements broker.Command.
func (p *Pop) Find(f broker.Finder) (*shard.Queue, error) {
	p.Bodies = nil
	return f.Queue(broker.Reading, p.Queue, p.Create)
}

// Others names the queues of the pops that go first: this one depends on what they got.
func (p *Pop) Others(fn func(*shard.Queue)) {
	for u := p.Unless; u != nil; u = u.Unless {
		if q := u.Found(); q != nil {
			fn(q)
		}
	}
}

// settled reports whether the pops that depend on this one have nothing to do.
func (p *Pop) settled() bool {
	return p.Got() || p.Err != nil && !errors.Is(p.Err, failure.ErrQueueNotFound) || p.Unless != nil && p.Unless.settled()
}

// Got reports whether there is nothing to wait for.
func (p *Pop) Got() bool { return len(p.Bodies) > 0 }

// Run implements broker.Command.
func (p *Pop) Run(at shard.Context) error {
	p.Bodies = nil
	if p.Unless != nil && p.Unless.settled() {
		return nil
	}
	for size := int64(0); len(p.Bodies) < p.Max && size < at.LookBytes(); {
		it := at.Take(p.By(), p.Back, true)
		if it == nil {
			break
		}
		at.Settle(it.Handle, 1)
		p.Bodies = append(p.Bodies, it.Env.Body())
		size += shard.ShownBytes + int64(len(it.Env))
	}
	p.Left = at.Deliveries().Ready()
	return nil
}
