package shardstate

import (
	"encoding/binary"
	"fmt"

	"fiveways.dev/fiveways/internal/core/codec"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/core/stream"
)

// The kinds of stream facts; the number follows the id of the queue. Ids and names are encoded as
// in internal/core/stream/codec.go.
//
// These numbers are on disk; never renumber.
const (
	streamEntry        = 1  // handle, id: the message becomes an entry
	streamTrim         = 2  // handle: the entries before it were trimmed
	streamSet          = 3  // last, max deleted, added: sets these values
	streamGroup        = 4  // group, last, read + 1: creates the group, or moves it
	streamGroupGone    = 5  // group: deletes it
	streamConsumer     = 6  // group, consumer, seen: the consumer exists
	streamConsumerGone = 7  // group, consumer: deletes the consumer
	streamGiven        = 8  // group, consumer, time, last, read + 1, n, n × id: delivered for the first time
	streamPending      = 9  // group, consumer, seen, n, n × (id, time, count): pending with these values
	streamAcked        = 10 // group, n, n × id: no longer pending
	streamMade         = 11 // the queue, which is empty, becomes a stream
	streamEnded        = 12 // it stops being a stream, and its messages are deleted
)

// applyStream replays the payload of a fact of a stream.
func (m *Machine) applyStream(payload []byte) error {
	r := codec.NewReader(payload)
	id := r.Uvarint()
	if r.Err() != nil {
		return ErrMalformed
	}
	if q := m.queues[id]; q != nil {
		return q.changeStream(&r, m.gone)
	}
	return nil
}

// changeStream applies the change in the rest of a fact.
func (q *Queue) changeStream(r *codec.Reader, gone func(*queue.Item)) error {
	kind := r.Uvarint()
	if r.Err() != nil {
		return ErrMalformed
	}
	q.changes()
	s := q.makeStream()
	switch kind {
	case streamMade:
	case streamEnded:
		q.endStream(gone)
	case streamEntry:
		h := queue.Handle(r.Uvarint())
		s.Add(stream.ReadID(r, stream.ID{}), h)
	case streamTrim:
		q.trimStream(queue.Handle(r.Uvarint()), gone)
	case streamSet:
		last, deleted := stream.ReadID(r, stream.ID{}), stream.ReadID(r, stream.ID{})
		s.Set(last, deleted, r.Uvarint())
	case streamGroup:
		name, last := r.String(), stream.ReadID(r, stream.ID{})
		s.SetGroup(name, last, int64(r.Uvarint())-1)
	case streamGroupGone:
		s.DropGroup(r.String())
	default:
		if err := changeGroup(s, kind, r); err != nil {
			return err
		}
	}
	if r.End() != nil {
		return ErrMalformed
	}
	return nil
}

// changeGroup applies a change to an existing group.
func changeGroup(s *stream.Stream, kind uint64, r *codec.Reader) error {
	g := s.Group(r.String())
	if g == nil {
		return fmt.Errorf("%w: a group of a stream is not there", ErrMalformed)
	}
	switch kind {
	case streamConsumer:
		name := r.String()
		g.Enter(name, int64(r.Uvarint()))
	case streamConsumerGone:
		g.Leave(r.String())
	case streamGiven:
		name, now := r.String(), int64(r.Uvarint())
		c := g.Enter(name, now)
		g.Last = stream.ReadID(r, stream.ID{})
		g.Read = int64(r.Uvarint()) - 1
		eachID(r, func(id stream.ID) { g.Give(c, id, now, 1) })
	case streamPending:
		name := r.String()
		c := g.Enter(name, int64(r.Uvarint()))
		var id stream.ID
		for n := r.Uvarint(); n > 0 && r.Err() == nil; n-- {
			id = stream.ReadID(r, id)
			at := int64(r.Uvarint())
			g.Give(c, id, at, r.Uvarint())
		}
	case streamAcked:
		eachID(r, func(id stream.ID) { g.Ack(id) })
	default:
		return fmt.Errorf("%w: %d of a stream", ErrMalformed, kind)
	}
	return nil
}

func eachID(r *codec.Reader, fn func(stream.ID)) {
	var id stream.ID
	for n := r.Uvarint(); n > 0 && r.Err() == nil; n-- {
		id = stream.ReadID(r, id)
		fn(id)
	}
}

// MakeStream turns an empty queue into a stream.
func (r *Recorder) MakeStream(q *Queue) { r.changeStream(q, r.stream(q, streamMade)) }

// EndStream turns a stream into an empty queue.
func (r *Recorder) EndStream(q *Queue) {
	r.flushSettled() // deletions from before the end are written first
	r.changeStream(q, r.stream(q, streamEnded))
}

// AddEntry makes a message an entry of a stream.
func (r *Recorder) AddEntry(q *Queue, h queue.Handle, id stream.ID) {
	fact := binary.AppendUvarint(r.stream(q, streamEntry), uint64(h))
	r.changeStream(q, stream.AppendID(fact, stream.ID{}, id))
}

// TrimStream removes the entries before a handle.
func (r *Recorder) TrimStream(q *Queue, before queue.Handle) {
	r.flushSettled() // earlier deletions are written first
	r.changeStream(q, binary.AppendUvarint(r.stream(q, streamTrim), uint64(before)))
}

// SetStream changes the values that a stream keeps about removed entries.
func (r *Recorder) SetStream(q *Queue, last, deleted stream.ID, added uint64) {
	r.flushSettled() // earlier deletions are written first, because the new values do not include them
	fact := stream.AppendID(r.stream(q, streamSet), stream.ID{}, last)
	r.changeStream(q, binary.AppendUvarint(stream.AppendID(fact, stream.ID{}, deleted), added))
}

// SetGroup creates a group at an entry, or moves it there. read is the number of entries up to
// there, stream.Unknown if unknown.
func (r *Recorder) SetGroup(q *Queue, group string, last stream.ID, read int64) {
	r.changeStream(q, appendStand(r.group(q, streamGroup, group), last, read))
}

// DropGroup removes a group.
func (r *Recorder) DropGroup(q *Queue, group string) {
	r.changeStream(q, r.group(q, streamGroupGone, group))
}

// EnterGroup creates a consumer of a group if needed, and records that it was seen now (Unix ms).
func (r *Recorder) EnterGroup(q *Queue, group, consumer string, now int64) {
	r.changeStream(q, appendMember(r.group(q, streamConsumer, group), consumer, now))
}

// LeaveGroup removes a consumer from a group.
func (r *Recorder) LeaveGroup(q *Queue, group, consumer string) {
	r.changeStream(q, codec.AppendPrefixed(r.group(q, streamConsumerGone, group), consumer))
}

// Given delivers entries to a consumer of a group for the first time, and moves the group behind
// them.
func (r *Recorder) Given(q *Queue, group, consumer string, now int64, last stream.ID, read int64, ids []stream.ID) {
	fact := appendMember(r.group(q, streamGiven, group), consumer, now)
	r.changeStream(q, appendIDs(appendStand(fact, last, read), ids))
}

// SetPending sets the pending state of entries, all of one consumer, which was seen now.
func (r *Recorder) SetPending(q *Queue, group, consumer string, now int64, list []stream.Pending) {
	fact := appendMember(r.group(q, streamPending, group), consumer, now)
	fact = binary.AppendUvarint(fact, uint64(len(list)))
	var before stream.ID
	for i := range list {
		p := &list[i]
		fact = stream.AppendID(fact, before, p.ID)
		before = p.ID
		fact = codec.AppendUvarints(fact, uint64(p.Time), p.Count)
	}
	r.changeStream(q, fact)
}

// AckPending removes entries from the pending ones.
func (r *Recorder) AckPending(q *Queue, group string, ids []stream.ID) {
	r.changeStream(q, appendIDs(r.group(q, streamAcked, group), ids))
}

// stream begins the payload of a fact about a stream.
func (r *Recorder) stream(q *Queue, kind byte) []byte {
	return append(binary.AppendUvarint(r.payload[:0], q.ID), kind)
}

// group begins the payload of a fact about a group.
func (r *Recorder) group(q *Queue, kind byte, name string) []byte {
	return codec.AppendPrefixed(r.stream(q, kind), name)
}

// changeStream applies the change in a payload, and appends the fact. It panics if the payload
// cannot be applied, because it was just built.
func (r *Recorder) changeStream(q *Queue, payload []byte) {
	r.payload = payload
	r.data = append(AppendFact(r.begin(), factStream, len(payload)), payload...)
	r.sub++
	read := codec.NewReader(payload)
	read.Uvarint() // the queue
	if err := q.changeStream(&read, r.gone); err != nil {
		panic("shardstate: a fact of a stream cannot be applied: " + err.Error())
	}
}

func appendMember(dst []byte, consumer string, now int64) []byte {
	return binary.AppendUvarint(codec.AppendPrefixed(dst, consumer), uint64(now))
}

// appendStand appends the position of a group.
func appendStand(dst []byte, last stream.ID, read int64) []byte {
	return binary.AppendUvarint(stream.AppendID(dst, stream.ID{}, last), uint64(read+1))
}

func appendIDs(dst []byte, ids []stream.ID) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(ids)))
	var before stream.ID
	for _, id := range ids {
		dst = stream.AppendID(dst, before, id)
		before = id
	}
	return dst
}
