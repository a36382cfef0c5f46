package broker

import (
	"errors"

	"fiveways/internal/core/queue"
	"fiveways/internal/core/stream"
)

// A stream is a queue whose messages are entries: each has an id from the moment it comes, whoever publishes it, and stays until it is deleted,
// trimmed, or acknowledged by a consumer of another protocol. Groups read entries where they stand.

// newEntry is an entry of a stream that came with the publish in hand.
type newEntry struct {
	q  *Queue
	h  queue.Handle
	id stream.ID
}

// nextID is the id of the message in hand in a stream, 0-0 when there are no more.
func (sh *shard) nextID(q *Queue) stream.ID {
	if !sh.givenID.IsZero() {
		return sh.givenID
	}
	id, _ := q.stream.NextID(sh.now)
	return id
}

// recordEntries tells of the ids that messages got with the publish in hand, behind its fact.
func (sh *shard) recordEntries() {
	for _, e := range sh.entries {
		sh.changeStream(e.q, appendEntry(sh.aboutStream(e.q, streamEntry), e.h, e.id))
	}
	clear(sh.entries)
	sh.entries = sh.entries[:0]
}

// aboutStream begins a fact of a stream, which changeStream takes.
func (sh *shard) aboutStream(q *Queue, kind byte) []byte {
	return appendStreamHead(sh.telling[:0], q.ID, kind)
}

// changeStream records what happened to a stream, and has it happen.
func (sh *shard) changeStream(q *Queue, payload []byte) {
	sh.telling = payload
	sh.entry.data = append(appendFact(sh.entry.data, factStream, len(payload)), payload...)
	sh.sub++
	if err := sh.m.applyStream(payload, sh.settledItem); err != nil {
		panic("broker: a fact of a stream cannot be applied: " + err.Error()) // it was built just now
	}
}

// errWrongKind: the queue is there, but it is a stream and should not be, or the other way round.
func (q *Queue) errWrongKind() error {
	return &Error{Err: ErrWrongKind, Kind: "queue", Name: q.Name, VHost: q.vhost.Name}
}

// OnStream is what all commands about streams embed: their queue, and that it must be a stream.
type OnStream struct {
	OnQueue
	// Missing: there is no such stream, and the command has done nothing. A queue of another kind that is empty counts as none.
	Missing bool
}

// findStream finds a stream to do something to. What is not there is not an error but Missing.
func (o *OnStream) findStream(s *Session, action string) (*Queue, error) {
	o.Missing = false
	if err := s.may(action, "queue", o.Queue); err != nil {
		return nil, err
	}
	q, err := s.usableQueue(o.Queue)
	if errors.Is(err, ErrQueueNotFound) {
		o.Missing = true
	}
	return q, err
}

// makeStream is findStream, and makes the stream when it is not there.
func (o *OnStream) makeStream(s *Session, action string) (*Queue, error) {
	q, err := o.findStream(s, action)
	if !o.Missing {
		return q, err
	}
	o.Missing = false
	if err := checkLength("queue", o.Queue); err != nil {
		return nil, err
	}
	spec := QueueSpec{Name: o.Queue, Durable: true, Policy: DefaultQueuePolicy()}
	spec.Policy.Stream = true
	if _, err := s.DeclareQueue(spec); err != nil && !errors.Is(err, ErrInequivalent) { // somebody else declared it meanwhile, otherwise
		return nil, err
	}
	return s.usableQueue(o.Queue)
}

// stream is the stream of a queue. Without an error it may be nil: there is none.
func (o *OnStream) stream(sh *shard, q *Queue) (*stream.Stream, error) {
	q.used(sh.now)
	if q.stream == nil {
		if q.state.Ready()+q.state.Unacked()+q.state.Scheduled()+q.state.Blocked() > 0 {
			return nil, q.errWrongKind()
		}
		o.Missing = true
	}
	return q.stream, nil
}

// trimStream takes out entries that are too many and returns how many went.
func (sh *shard) trimStream(q *Queue, t *stream.Trim) int {
	before, n := q.stream.Cut(t)
	if n == 0 {
		return 0
	}
	first, _ := q.stream.Find(q.stream.FirstEntry())
	sh.tellSettled() // what was deleted before is not trimmed
	sh.changeStream(q, appendHandle(sh.aboutStream(q, streamTrim), before))
	sh.wakeTakers(q, first, int(before-first))
	sh.mark(q)
	return n
}
