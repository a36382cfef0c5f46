package lists

import (
	"errors"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
)

// Pop removes ready messages from a queue, one after the other: those that would be delivered
// first, or, with Back, last.
type Pop struct {
	broker.OnQueue
	Back   bool
	Max    int      // at most this many; fewer if they take more than a quarter of the memory that the broker may use
	Create bool     // create a missing queue, durable, so that Await can wait at it
	Unless *Pop     // pop nothing if that one has got something or failed; it comes before this one in the same call
	Bodies [][]byte // result; must not be changed
	Left   int      // result: how many are ready afterwards

	one [1][]byte // room for Bodies
}

// Find implements broker.Command.
func (p *Pop) Find(f broker.Finder) (*shard.Queue, error) {
	p.Bodies = nil
	return f.Queue(broker.Reading, p.Queue, p.Create)
}

// Others appends the queues of the pops in the Unless chain, whose results decide whether this one
// runs.
func (p *Pop) Others(dst []*shard.Queue) []*shard.Queue {
	for u := p.Unless; u != nil; u = u.Unless {
		if q := u.Found(); q != nil {
			dst = append(dst, q)
		}
	}
	return dst
}

// settled reports whether an earlier Pop leaves nothing to do for this one.
func (p *Pop) settled() bool {
	return p.Got() || p.Err != nil && !errors.Is(p.Err, failure.ErrQueueNotFound) || p.Unless != nil && p.Unless.settled()
}

// Got implements the method that Await asks for.
func (p *Pop) Got() bool { return len(p.Bodies) > 0 }

// Run implements broker.Command.
func (p *Pop) Run(at shard.Context) error {
	p.Bodies = p.one[:0]
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
