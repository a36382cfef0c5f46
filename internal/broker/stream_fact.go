package broker

import (
	"encoding/binary"
	"fmt"

	"fiveways/internal/core/queue"
	"fiveways/internal/core/stream"
)

// What a fact of a stream says, behind the queue and this number. Ids and names are as in internal/core/stream/codec.go.
//
// These numbers are on disk; never renumber.
const (
	streamEntry        = 1  // handle, id: the message is an entry
	streamTrim         = 2  // handle: the entries before it are gone
	streamSet          = 3  // last, max deleted, added: this is so from now on
	streamGroup        = 4  // group, last, read + 1: the group is there and stands there
	streamGroupGone    = 5  // group
	streamConsumer     = 6  // group, consumer, seen: the consumer is there
	streamConsumerGone = 7  // group, consumer
	streamGiven        = 8  // group, consumer, time, last, read + 1, n, n × id: given for the first time; the group stands there
	streamPending      = 9  // group, consumer, seen, n, n × (id, time, count): pending like this
	streamAcked        = 10 // group, n, n × id: not pending any more
	streamMade         = 11 // the queue, which is empty, is a stream
	streamEnded        = 12 // it is none any more, and its messages are gone
)

func appendStreamHead(dst []byte, queueID uint64, kind byte) []byte {
	return append(binary.AppendUvarint(dst, queueID), kind)
}

func appendHandle(dst []byte, h queue.Handle) []byte { return binary.AppendUvarint(dst, uint64(h)) }

func appendEntry(dst []byte, h queue.Handle, id stream.ID) []byte {
	return stream.AppendID(appendHandle(dst, h), stream.ID{}, id)
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

// appendStand says where a group stands.
func appendStand(dst []byte, last stream.ID, read int64) []byte {
	return binary.AppendUvarint(stream.AppendID(dst, stream.ID{}, last), uint64(read+1))
}

// appendPending says what is pending of entries, all of it for one consumer.
func appendPending(dst []byte, list []stream.Pending) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(list)))
	var before stream.ID
	for i := range list {
		p := &list[i]
		dst = stream.AppendID(dst, before, p.ID)
		before = p.ID
		dst = binary.AppendUvarint(dst, uint64(p.Time))
		dst = binary.AppendUvarint(dst, p.Count)
	}
	return dst
}

// applyStream replays the payload of a fact of a stream. gone gets each message that it ends.
func (m *machine) applyStream(b []byte, gone func(*queue.Item)) error {
	r := stream.NewReader(b)
	id := r.Uint()
	kind := r.Uint()
	s, st := m.streams[id], m.queues[id]
	switch {
	case r.Failed():
		return errMalformedFact
	case st == nil:
		return nil // deleted since
	case s == nil:
		s = m.makeStream(id)
	}
	switch kind {
	case streamMade:
	case streamEnded:
		if first, last, ok := s.Handles(); ok {
			st.SettleRange(first, int(last-first)+1, gone)
		}
		delete(m.streams, id)
	case streamEntry:
		h := queue.Handle(r.Uint())
		s.Add(r.ID(stream.ID{}), h)
	case streamTrim:
		before := queue.Handle(r.Uint())
		if first, ok := s.Find(s.FirstEntry()); ok && first < before {
			st.SettleRange(first, int(before-first), gone)
			s.Trim(before)
		}
	case streamSet:
		last, deleted := r.ID(stream.ID{}), r.ID(stream.ID{})
		s.Set(last, deleted, r.Uint())
	case streamGroup:
		name, last := r.Name(), r.ID(stream.ID{})
		s.SetGroup(name, last, int64(r.Uint())-1)
	case streamGroupGone:
		s.DropGroup(r.Name())
	default:
		if err := applyGroup(s, kind, &r); err != nil {
			return err
		}
	}
	if !r.Ended() {
		return errMalformedFact
	}
	return nil
}

// makeStream makes a queue a stream.
func (m *machine) makeStream(id uint64) *stream.Stream {
	s := &stream.Stream{}
	m.streams[id] = s
	return s
}

// applyGroup replays what happened in a group, which is there.
func applyGroup(s *stream.Stream, kind uint64, r *stream.Reader) error {
	g := s.Group(r.Name())
	if g == nil {
		return fmt.Errorf("%w: a group of a stream is not there", errMalformedFact)
	}
	switch kind {
	case streamConsumer:
		name := r.Name()
		g.Enter(name, int64(r.Uint()))
	case streamConsumerGone:
		g.Leave(r.Name())
	case streamGiven:
		name, now := r.Name(), int64(r.Uint())
		c := g.Enter(name, now)
		g.Last = r.ID(stream.ID{})
		g.Read = int64(r.Uint()) - 1
		eachID(r, func(id stream.ID) { g.Give(c, id, now, 1) })
	case streamPending:
		name := r.Name()
		c := g.Enter(name, int64(r.Uint()))
		var id stream.ID
		for n := r.Uint(); n > 0 && !r.Failed(); n-- {
			id = r.ID(id)
			at := int64(r.Uint())
			g.Give(c, id, at, r.Uint())
		}
	case streamAcked:
		eachID(r, func(id stream.ID) { g.Ack(id) })
	default:
		return fmt.Errorf("%w: %d of a stream", errMalformedFact, kind)
	}
	return nil
}

func eachID(r *stream.Reader, fn func(stream.ID)) {
	var id stream.ID
	for n := r.Uint(); n > 0 && !r.Failed(); n-- {
		id = r.ID(id)
		fn(id)
	}
}

func appendSet(dst []byte, last, deleted stream.ID, added uint64) []byte {
	dst = stream.AppendID(stream.AppendID(dst, stream.ID{}, last), stream.ID{}, deleted)
	return binary.AppendUvarint(dst, added)
}
