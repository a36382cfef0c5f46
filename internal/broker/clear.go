package broker

import "fiveways/internal/core/queue"

// Clear removes the ready messages of a queue. A stream is an empty queue afterwards.
type Clear struct {
	OnQueue
	Removed int
	Existed bool // the queue was a list or a stream
}

func (c *Clear) Find(f Finder) (*Queue, error) { return f.Queue(Reading, c.Queue, false) }

func (c *Clear) Run(at Context) error {
	sh, q := at.sh, at.q
	c.Existed = q.content.Stream != nil || q.state.Ready() > 0
	if q.content.Stream != nil {
		c.Removed = q.content.Stream.Len()
		sh.endStream(q)
		sh.letGoCleared(q)
		return nil
	}
	c.Removed = sh.clear(q)
	sh.letGoCleared(q)
	return nil
}

func (*Clear) OfStreams() {}

// clear removes the ready messages and returns their number.
func (sh *shard) clear(q *Queue) (messages int) {
	messages = q.state.Ready()
	type run struct {
		h queue.Handle
		n int
	}
	var gone []run
	sh.facts.Purge(q.content, func(h queue.Handle, n int) {
		if q.after != nil || q.feature.Load() != nil {
			gone = append(gone, run{h, n})
		}
	})
	for _, r := range gone {
		if q.after != nil {
			sh.freed(q, r.h, r.n, r.n)
		}
		sh.settled(q, r.h, r.n)
	}
	sh.mark(q)
	return messages
}
