package shardstate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"fiveways.dev/fiveways/internal/core/codec"
	"fiveways.dev/fiveways/internal/core/job"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// The types of facts. A fact is a record of the log: a type byte and a payload, whose integers are
// unsigned varints. docs/format/facts.md describes each.
//
// These numbers are on disk; never renumber.
const (
	factPublish    = 1
	factSettle     = 2
	factRequeue    = 3
	factStart      = 4
	factRetry      = 5
	factRemember   = 6
	factReschedule = 7
	factCopy       = 8
	factLease      = 9
	factDone       = 10
	factReplace    = 11
	factLedger     = 12
	factRecount    = 13
	factStream     = 20
)

var (
	// ErrMalformed is returned for bytes that no encoder of this package has written.
	ErrMalformed = errors.New("malformed fact")
	// ErrUnsupported is returned for a fact or a checkpoint of a newer version.
	ErrUnsupported = errors.New("unsupported format")
)

// AppendFact appends the length and the type of a fact whose payload of n bytes follows.
func AppendFact(dst []byte, typ byte, n int) []byte {
	return append(binary.AppendUvarint(dst, uint64(n+1)), typ)
}

// NthFact returns the n-th fact of an entry.
func NthFact(entry []byte, n uint32) ([]byte, error) {
	r := codec.NewReader(entry)
	for range n {
		r.Prefixed()
	}
	fact := r.Prefixed()
	if r.Err() != nil {
		return nil, ErrMalformed
	}
	return fact, nil
}

// Message is a message to publish, or one that replaces another.
type Message struct {
	Targets []Target
	Due     int64 // Unix ms before which it is not delivered, 0: now
	Env     message.Envelope
	Size    uint32      // of the body, set by Publish
	Copied  bool        // waits for no other message, whatever its headers say
	Flags   queue.Flags // Redelivered, for a message that may have been delivered before; not in the log
}

// Target is one queue of a message.
type Target struct {
	Queue   uint64
	Handle  queue.Handle
	Expires int64 // Unix ms, 0: never

	to     *Queue // nil in a decoded fact
	logged bool   // the message is recorded for this queue
}

// To adds q to the queues of the message. It sets the fields one by one, because copying a whole
// struct would stall on the writes to its parts.
func (m *Message) To(q *Queue, h queue.Handle, expires int64, persistent bool) {
	n := len(m.Targets)
	m.Targets = slices.Grow(m.Targets, 1)[:n+1]
	t := &m.Targets[n]
	t.Queue, t.Handle, t.Expires, t.to, t.logged = q.ID, h, expires, q, persistent
}

// appendMessage appends a fact about a message, with the targets for which it is recorded.
func appendMessage(dst []byte, typ byte, m *Message, logged int) []byte {
	size := codec.UvarintLen(uint64(logged)) + codec.UvarintLen(uint64(m.Due)) + len(m.Env)
	for i := range m.Targets {
		if t := &m.Targets[i]; t.logged {
			size += codec.UvarintLen(t.Queue) + codec.UvarintLen(uint64(t.Handle)) + codec.UvarintLen(uint64(t.Expires))
		}
	}
	dst = binary.AppendUvarint(AppendFact(dst, typ, size), uint64(logged))
	for i := range m.Targets {
		if t := &m.Targets[i]; t.logged {
			dst = binary.AppendUvarint(dst, t.Queue)
			dst = binary.AppendUvarint(dst, uint64(t.Handle))
			dst = binary.AppendUvarint(dst, uint64(t.Expires))
		}
	}
	return append(binary.AppendUvarint(dst, uint64(m.Due)), m.Env...)
}

// AppendBody appends a fact with a message but no queue, for a message that moves out of memory.
func AppendBody(dst []byte, env message.Envelope) []byte {
	return appendMessage(dst, factPublish, &Message{Env: env}, 0)
}

// leastTarget is the minimum size of a target in bytes: three varints.
const leastTarget = 3

// Decode decodes a fact with a message (including its type byte) and reuses m.Targets. m.Env
// aliases the fact.
func (m *Message) Decode(fact []byte) error {
	if len(fact) == 0 || fact[0] != factPublish && fact[0] != factCopy && fact[0] != factReplace {
		return fmt.Errorf("%w: not a message", ErrMalformed)
	}
	r := codec.NewReader(fact[1:])
	m.Targets = m.Targets[:0]
	for n := r.Count(leastTarget); n > 0; n-- {
		m.Targets = append(m.Targets, Target{
			Queue: r.Uvarint(), Handle: queue.Handle(r.Uvarint()), Expires: int64(r.Uvarint()), logged: true,
		})
	}
	m.Due, m.Copied, m.Flags = int64(r.Uvarint()), fact[0] == factCopy, 0
	if r.Err() != nil {
		return ErrMalformed
	}
	m.Env = message.Envelope(r.Rest())
	return message.CheckEnvelope(m.Env)
}

// span is n contiguous messages of a queue, with the time or count of the fact if it has one.
type span struct {
	queue  uint64
	handle queue.Handle
	n      int
	extra  int64
}

// appendSpan appends a fact about n contiguous messages.
func appendSpan(dst []byte, typ byte, queueID uint64, h queue.Handle, n uint64) []byte {
	return appendInts(dst, typ, queueID, uint64(h), n)
}

// decodeSpan decodes a fact about contiguous messages (including its type byte).
func decodeSpan(fact []byte) (s span, err error) {
	r := codec.NewReader(fact[1:])
	s.queue, s.handle, s.n = r.Uvarint(), queue.Handle(r.Uvarint()), int(r.Uvarint())
	switch fact[0] {
	case factRetry:
		s.extra = int64(r.Uvarint())
	case factReschedule, factRecount: // about one message; the number is the time or the count
		s.n, s.extra = 1, int64(s.n)
	}
	if r.End() != nil || s.n < 0 || s.extra < 0 {
		return s, ErrMalformed
	}
	return s, nil
}

// leases is n contiguous messages that are leased until the same time, by leases with consecutive
// numbers.
type leases struct {
	queue  uint64
	handle queue.Handle
	n      int
	number uint64 // of the first lease
	until  int64  // Unix ms
}

// extend adds a lease if it continues the run, and reports whether it does.
func (l *leases) extend(next *leases) bool {
	n := uint64(l.n)
	follows := n > 0 && l.queue == next.queue && l.handle+queue.Handle(n) == next.handle &&
		l.number+n == next.number && l.until == next.until
	if follows {
		l.n += next.n
	}
	return follows
}

func appendLeases(dst []byte, l *leases) []byte {
	return appendInts(dst, factLease, l.queue, uint64(l.handle), uint64(l.n), l.number, uint64(l.until))
}

func decodeLeases(fact []byte) (l leases, err error) {
	r := codec.NewReader(fact[1:])
	l = leases{queue: r.Uvarint(), handle: queue.Handle(r.Uvarint()), n: int(r.Uvarint()), number: r.Uvarint(), until: int64(r.Uvarint())}
	if r.End() != nil || l.n < 0 || l.until < 0 {
		return l, ErrMalformed
	}
	return l, nil
}

// appendDone appends what is remembered about an id; an Until of 0 means that the id is forgotten.
func appendDone(dst []byte, queueID uint64, d *job.Done) []byte {
	until, attempts, first := uint64(d.Until), uint64(d.Attempts), uint64(d.First)
	size := codec.UvarintsLen(queueID, until, attempts, first) + len(d.ID)
	dst = codec.AppendUvarints(AppendFact(dst, factDone, size), queueID, until, attempts, first)
	return append(dst, d.ID...)
}

func decodeDone(fact []byte) (queueID uint64, d job.Done, err error) {
	r := codec.NewReader(fact[1:])
	queueID = r.Uvarint()
	d = job.Done{Until: int64(r.Uvarint()), Attempts: uint32(r.Uvarint()), First: int64(r.Uvarint()), Logged: true}
	if r.Err() != nil || d.Until < 0 || d.First < 0 {
		return queueID, d, ErrMalformed
	}
	d.ID = string(r.Rest())
	return queueID, d, nil
}

// Key is a key that a queue remembers in order to refuse other messages with this key.
type Key struct {
	Key   [16]byte
	At    int64 // Unix ms when it was accepted
	Until int64 // Unix ms, 0: forever
}

func appendKey(dst []byte, queueID uint64, k *Key) []byte {
	at, until := uint64(k.At), uint64(k.Until)
	size := codec.UvarintsLen(queueID, at, until) + len(k.Key)
	dst = binary.AppendUvarint(AppendFact(dst, factRemember, size), queueID)
	return codec.AppendUvarints(append(dst, k.Key[:]...), at, until)
}

func decodeKey(fact []byte) (queueID uint64, k Key, err error) {
	r := codec.NewReader(fact[1:])
	queueID = r.Uvarint()
	copy(k.Key[:], r.Bytes(len(k.Key)))
	k.At, k.Until = int64(r.Uvarint()), int64(r.Uvarint())
	if r.End() != nil {
		return queueID, k, ErrMalformed
	}
	return queueID, k, nil
}

// appendInts appends a fact whose payload is integers, at most twelve, so that the length takes one
// byte.
func appendInts(dst []byte, typ byte, ints ...uint64) []byte {
	at := len(dst)
	dst = codec.AppendUvarints(append(dst, 0, typ), ints...)
	dst[at] = byte(len(dst) - at - 1)
	return dst
}
