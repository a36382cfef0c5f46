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
	q.stream = sh.m.streams[q.ID]
}

// errWrongKind: the queue is there, but it is a stream and should not be, or the other way round.
func (q *Queue) errWrongKind() error {
	return &Error{Err: ErrWrongKind, Kind: "queue", Name: q.Name, VHost: q.vhost.Name}
}

// ofStreams marks the commands that may be about streams. All others find that a stream is of another kind than they want.
type ofStreams interface{ ofStreams() }

// OnStream is what all commands about streams embed: their queue, and that it must be a stream.
type OnStream struct {
	OnQueue
	// Missing: there is no such stream, and the command has done nothing. A queue that is no stream and is empty counts as none.
	Missing bool
}

func (*OnStream) ofStreams() {}

// findStream finds a queue to do something to the stream it may be. What is not there is not an error but Missing.
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

// findOrMakeQueue is findStream, and declares the queue when it is not there.
func (o *OnStream) findOrMakeQueue(s *Session, action string) (*Queue, error) {
	o.Missing = false
	if err := s.may(action, "queue", o.Queue); err != nil {
		return nil, err
	}
	return s.findOrMake(o.Queue, true)
}

// stream is the stream of a queue. Without an error it may be nil: there is none.
func (o *OnStream) stream(sh *shard, q *Queue) (*stream.Stream, error) {
	q.used(sh.now)
	o.Missing = q.stream == nil && q.isEmpty()
	if q.stream == nil && !o.Missing {
		return nil, q.errWrongKind()
	}
	return q.stream, nil
}

// makeStream is stream, and makes an empty queue a stream. Errors: ErrWrongKind.
func (o *OnStream) makeStream(sh *shard, q *Queue) (*stream.Stream, error) {
	s, err := o.stream(sh, q)
	if s != nil || err != nil {
		return s, err
	}
	if !q.mayBeStream() {
		return nil, q.errWrongKind()
	}
	o.Missing = false
	sh.changeStream(q, sh.aboutStream(q, streamMade))
	return q.stream, nil
}

func (q *Queue) isEmpty() bool {
	return q.state.Ready()+q.state.Unacked()+q.state.Scheduled()+q.state.Blocked() == 0
}

// mayBeStream tells whether nothing that the queue does with messages is in the way: they all stay, in one row.
func (q *Queue) mayBeStream() bool {
	p := q.Policy()
	return q.Durable && q.relay == nil && q.picky == nil && q.after == nil && q.jobs == nil && p.MaxPriority == 0
}

// endStream makes a stream an empty queue.
func (sh *shard) endStream(q *Queue) {
	first, last, ok := q.stream.Handles()
	sh.tellSettled() // what was deleted before the end
	sh.changeStream(q, sh.aboutStream(q, streamEnded))
	if ok {
		sh.wakeTakers(q, first, int(last-first)+1)
	}
	sh.wakeReaders(q)
}

// wakeReaders has those look who wait at a stream, though there is no entry for them.
func (sh *shard) wakeReaders(q *Queue) {
	q.wakeAll = true
	sh.mark(q)
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
