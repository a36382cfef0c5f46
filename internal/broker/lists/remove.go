package lists

import (
	"bytes"
	"slices"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/queue"
)

// Remove removes the ready messages with a body from a queue.
type Remove struct {
	broker.OnQueue
	Body    []byte
	Max     int  // at most this many, 0 is all
	Back    bool // search from the end
	Removed int
}

// Find implements broker.Command.
func (r *Remove) Find(f broker.Finder) (*shard.Queue, error) {
	return f.Queue(broker.Reading, r.Queue, false)
}

// Run implements broker.Command.
func (r *Remove) Run(at shard.Context) error {
	var found []queue.Handle
	at.Deliveries().Window(0, ready(at), func(it *queue.Item) {
		if int(it.Size) == len(r.Body) && (r.Back || r.Max == 0 || len(found) < r.Max) && hasBody(at, it, r.Body) {
			found = append(found, it.Handle)
		}
	})
	if r.Max > 0 && len(found) > r.Max {
		found = found[len(found)-r.Max:]
	}
	r.Removed = len(found)
	settleAll(at, found)
	return nil
}

// hasBody compares a message's body; a body that cannot be read equals none.
func hasBody(at shard.Context, it *queue.Item, body []byte) bool {
	env, err := at.Load(it)
	return err == nil && bytes.Equal(env.Body(), body)
}

// settleAll settles messages that are given in the order of their handles.
func settleAll(at shard.Context, handles []queue.Handle) {
	for len(handles) > 0 {
		n := 1
		for n < len(handles) && handles[n] == handles[0]+queue.Handle(n) {
			n++
		}
		at.Settle(handles[0], n)
		handles = handles[n:]
	}
	at.Changed()
}

// Trim removes all ready messages of a queue except those at some positions, which are as in Range.
type Trim struct {
	broker.OnQueue
	First, Last int
	Back        bool
}

// Find implements broker.Command.
func (t *Trim) Find(f broker.Finder) (*shard.Queue, error) {
	return f.Queue(broker.Reading, t.Queue, false)
}

// Run implements broker.Command.
func (t *Trim) Run(at shard.Context) error {
	size := ready(at)
	from, n := window(t.First, t.Last, size, t.Back)
	var gone []queue.Handle
	drop := func(it *queue.Item) { gone = append(gone, it.Handle) }
	at.Deliveries().Window(0, from, drop)
	at.Deliveries().Window(from+n, size-from-n, drop)
	slices.Sort(gone)
	settleAll(at, gone)
	return nil
}
