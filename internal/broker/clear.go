package broker

import "fiveways/internal/core/queue"

// Clear removes the ready messages of a queue. A stream is none after it.
type Clear struct {
	OnQueue
	Removed int
	Existed bool // it was a list or a stream
}

func (c *Clear) find(s *Session) (*Queue, error) { return s.readableList(c.Queue, false) }

func (c *Clear) run(sh *shard, q *Queue) error {
	c.Existed = q.kind() != NoKind
	if q.stream != nil {
		c.Removed = q.stream.Len()
		sh.endStream(q)
		sh.letGoCleared(q)
		return nil
	}
	c.Removed = sh.clear(q)
	sh.letGoCleared(q)
	return nil
}

func (*Clear) ofStreams() {}

// clear removes what is ready.
func (sh *shard) clear(q *Queue) (messages int) {
	messages = q.state.Ready()
	var gone []settledRun
	q.state.Purge(func(start queue.Handle, n int) {
		if q.Durable {
			sh.entry.settle(q.ID, start, n)
		}
		if q.stream != nil {
			q.stream.Delete(start, n)
		}
		if q.after != nil || q.jobs != nil {
			gone = append(gone, settledRun{handle: start, n: n})
		}
	}, sh.settledItem)
	for _, r := range gone {
		if q.after != nil {
			sh.freed(q, r.handle, r.n, r.n)
		}
		if q.jobs != nil {
			sh.jobsWent(q, r.handle, r.n)
		}
	}
	sh.mark(q)
	return messages
}
