package shard

import (
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/core/stream"
)

// A stream is a queue whose messages are entries. Each entry gets an id when it arrives, whichever
// protocol publishes it, and stays until it is deleted, trimmed, or acknowledged by a consumer of
// another protocol. Groups read entries in place.

// nextID returns the id of the current message in a stream, or 0-0 if the ids are exhausted.
func (sh *Shard) nextID(q *Queue) stream.ID {
	if !sh.givenID.IsZero() {
		return sh.givenID
	}
	id, _ := q.content.Stream.NextID(sh.now)
	return id
}

// MakeStream turns an empty queue into a stream. Errors: ErrWrongKind.
func (at Context) MakeStream() error {
	if !at.q.mayBeStream() {
		return at.q.Fail(failure.ErrWrongKind)
	}
	at.sh.facts.MakeStream(at.q.content)
	return nil
}

// PublishEntry is Publish for an entry of a stream, with its id.
func (at Context) PublishEntry(by *Client, p *Publish, id stream.ID) error {
	at.sh.givenID = id
	err := at.Publish(by, p)
	at.sh.givenID = stream.ID{}
	return err
}

// EndStream turns a stream into an empty queue, or into an empty stream if it is declared as one.
func (at Context) EndStream() { at.sh.endStream(at.q) }

// WakeReaders wakes the readers that wait at a stream, although no entry has arrived.
func (at Context) WakeReaders() {
	at.q.wakeAll = true
	at.sh.visit(at.q)
}

func (q *Queue) isEmpty() bool {
	return q.state.Ready()+q.state.Unacked()+q.state.Scheduled()+q.state.Blocked() == 0
}

// mayBeStream reports whether the queue has no feature that conflicts with a stream, in which all
// messages stay, in one order.
func (q *Queue) mayBeStream() bool {
	p := q.Policy()
	return q.Durable && q.buffer == nil && q.selective == nil && q.after == nil && !q.content.UsedForJobs() && p.MaxPriority == 0
}

// endStream implements Context.EndStream.
func (sh *Shard) endStream(q *Queue) {
	first, last, ok := q.content.Stream.Handles()
	switch {
	case !q.Declared.Stream:
		sh.facts.EndStream(q.content)
	case ok:
		sh.facts.TrimStream(q.content, last+1)
	}
	if ok {
		sh.loansEnded(q, first, int(last-first)+1)
	}
	q.wakeAll = true
	sh.mark(q)
}

// Reader is the position of a consumer in a declared stream. It removes nothing: each reader gets
// all entries from its position on. Its methods run on the goroutine of the queue's shard.
type Reader interface {
	// Start is called when the consumer joins the queue.
	Start(at Context)
	// Read passes the next entries, with bodies, to give until it returns false or none is left.
	Read(at Context, give func(*queue.Item) (more bool))
}

// Reads reports whether the consumer reads a stream: each of its deliveries has an offset.
func (c *Consumer) Reads() bool { return c.reader != nil }

// serveReaders gives the readers of a stream as many entries as they have room for.
func (sh *Shard) serveReaders(q *Queue) {
	for _, c := range q.consumers.All() {
		if c := ConsumerOf(c); c.reader != nil && c.state.MayRead() {
			c.reader.Read(Context{sh, q}, func(it *queue.Item) bool {
				sh.handTo(q, c, it)
				return c.state.MayRead()
			})
		}
	}
}

// readOn lets a reader read as many further entries as it has acknowledged.
func (sh *Shard) readOn(o *Op) {
	sh.giveBack(o.Consumer, int(o.N))
	if o.Confirm != nil {
		sh.answers.Add(o.Confirm, o.Seq, true)
	}
	if !o.Queue.gone {
		o.Queue.counts.Acked += uint64(o.N)
		sh.mark(o.Queue)
	}
}

// retain removes the first entries of a declared stream if they are too old, or too many.
func (sh *Shard) retain(q *Queue) {
	s, p := q.content.Stream, q.Policy()
	if before := s.Excess(q.state, p.MaxLengthBytes, p.MaxAge, sh.now); before > 0 {
		first, _, _ := s.Handles()
		q.changes++
		sh.facts.TrimStream(q.content, before)
		sh.loansEnded(q, first, int(before-first))
	}
}
