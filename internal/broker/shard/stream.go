package shard

import (
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/stream"
)

// A stream is a queue whose messages are entries: each has an id from the moment it comes,
// whichever protocol publishes it, and stays until it is deleted, trimmed, or acknowledged by a
// consumer of another protocol. Groups read entries where they stand.

// nextID is the id of the current message in a stream, 0-0 when there are no more.
func (sh *Shard) nextID(q *Queue) stream.ID {
	if !sh.givenID.IsZero() {
		return sh.givenID
	}
	id, _ := q.content.Stream.NextID(sh.now)
	return id
}

// MakeStream makes an empty queue a stream. Errors: ErrWrongKind.
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

// EndStream makes a stream an empty queue.
func (at Context) EndStream() { at.sh.endStream(at.q) }

// WakeReaders wakes the readers that wait at a stream although no entry has come.
func (at Context) WakeReaders() {
	at.q.wakeAll = true
	at.Changed()
}

func (q *Queue) isEmpty() bool {
	return q.state.Ready()+q.state.Unacked()+q.state.Scheduled()+q.state.Blocked() == 0
}

// mayBeStream reports whether nothing that the queue does with messages is in the way: they all
// stay, in one row.
func (q *Queue) mayBeStream() bool {
	p := q.Policy()
	return q.Durable && q.buffer == nil && q.selective == nil && q.after == nil && !q.content.UsedForJobs() && p.MaxPriority == 0
}

// endStream makes a stream an empty queue.
func (sh *Shard) endStream(q *Queue) {
	first, last, ok := q.content.Stream.Handles()
	sh.facts.EndStream(q.content)
	if ok {
		sh.loansEnded(q, first, int(last-first)+1)
	}
	Context{sh, q}.WakeReaders()
}
