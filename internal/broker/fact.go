package broker

import (
	"encoding/binary"
	"errors"
	"fmt"

	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
)

// The facts of a data shard. A fact is a type byte and a payload; integers are
// unsigned varints. docs/format/facts.md describes them.
//
// These numbers are on disk; never renumber.
const (
	factPublish    = 1  // targets n, n × (queue, handle, expires), due, envelope
	factSettle     = 2  // queue, handle, n: the n messages from handle on are gone
	factRequeue    = 3  // queue, handle, n: they came back once more
	factStart      = 4  // nothing: the broker started here, so what the last clean checkpoint says of deliveries is old
	factRetry      = 5  // queue, handle, n, due: as factRequeue, and they wait until then (unix ms)
	factRemember   = 6  // queue, key, at, until: the queue takes no other message with this key until then
	factReschedule = 7  // queue, handle, due: the message is scheduled for another time
	factCopy       = 8  // as factPublish, with (index, sub) before the envelope: a copy that counts as published before the message there
	factLease      = 9  // queue, handle, n, number, until: n messages from handle on are leased until then (unix ms), by leases numbered from number on
	factDone       = 10 // queue, until, attempts, first, id: the id of a message that has gone is remembered until then (unix ms); 0: not any more
	factReplace    = 11 // as factPublish: the message with this handle has this content and these times from now on
	factBook       = 12 // queue: it keeps a book of jobs
	factRecount    = 13 // queue, handle, count: the message came back so often
	factStream     = 20 // what happened to a stream: stream_fact.go
)

var errMalformedFact = errors.New("malformed fact")

// target is one place of a published message. Queues differ in how long they
// keep it, so each place has its own expiry.
type target struct {
	queue   uint64
	handle  queue.Handle
	expires int64 // unix ms, 0 never
}

// appendFact writes the length prefix for a fact of n bytes (type included).
func appendFact(dst []byte, typ byte, payload int) []byte {
	dst = binary.AppendUvarint(dst, uint64(payload+1))
	return append(dst, typ)
}

func uvarintLen(v uint64) int {
	n := 1
	for v >= 0x80 {
		v >>= 7
		n++
	}
	return n
}

func appendPublish(dst []byte, targets []target, due int64, env message.Envelope) []byte {
	return appendMessage(dst, factPublish, targets, due, env)
}

// appendCopy is appendPublish for a message that waits for nothing, whatever it names.
func appendCopy(dst []byte, targets []target, due int64, env message.Envelope) []byte {
	return appendMessage(dst, factCopy, targets, due, env)
}

func appendMessage(dst []byte, typ byte, targets []target, due int64, env message.Envelope) []byte {
	dst = appendFact(dst, typ, publishLen(targets, due, env))
	dst = appendTargets(dst, targets, due)
	return append(dst, env...)
}

func publishLen(targets []target, due int64, env message.Envelope) int {
	n := uvarintLen(uint64(len(targets))) + uvarintLen(uint64(due)) + len(env)
	for _, t := range targets {
		n += uvarintLen(t.queue) + uvarintLen(uint64(t.handle)) + uvarintLen(uint64(t.expires))
	}
	return n
}

func appendTargets(dst []byte, targets []target, due int64) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(targets)))
	for _, t := range targets {
		dst = binary.AppendUvarint(dst, t.queue)
		dst = binary.AppendUvarint(dst, uint64(t.handle))
		dst = binary.AppendUvarint(dst, uint64(t.expires))
	}
	return binary.AppendUvarint(dst, uint64(due))
}

func appendRange(dst []byte, typ byte, queueID uint64, h queue.Handle, n int) []byte {
	dst = appendFact(dst, typ, uvarintLen(queueID)+uvarintLen(uint64(h))+uvarintLen(uint64(n)))
	dst = binary.AppendUvarint(dst, queueID)
	dst = binary.AppendUvarint(dst, uint64(h))
	return binary.AppendUvarint(dst, uint64(n))
}

func appendRetry(dst []byte, queueID uint64, h queue.Handle, n int, due int64) []byte {
	dst = appendFact(dst, factRetry, uvarintLen(queueID)+uvarintLen(uint64(h))+uvarintLen(uint64(n))+uvarintLen(uint64(due)))
	dst = binary.AppendUvarint(dst, queueID)
	dst = binary.AppendUvarint(dst, uint64(h))
	dst = binary.AppendUvarint(dst, uint64(n))
	return binary.AppendUvarint(dst, uint64(due))
}

// published is a decoded publish fact; env aliases the fact.
type published struct {
	targets []target
	due     int64
	env     message.Envelope
	copied  bool // it waits for nothing
}

// varints reads unsigned varints off a fact; the first failure sticks.
type varints struct {
	b   []byte
	bad bool
}

func (v *varints) next() uint64 {
	u, n := binary.Uvarint(v.b)
	if n <= 0 {
		v.bad, v.b = true, nil
		return 0
	}
	v.b = v.b[n:]
	return u
}

// decodePublish reads a publish fact (type byte included) into p, reusing its slice.
func decodePublish(fact []byte, p *published) error {
	b := fact[1:]
	v := varints{b: b}
	n := v.next()
	if n > uint64(len(b)) {
		return fmt.Errorf("%w: %d targets in %d bytes", errMalformedFact, n, len(b))
	}
	p.targets = p.targets[:0]
	for ; n > 0 && !v.bad; n-- {
		p.targets = append(p.targets, target{v.next(), queue.Handle(v.next()), int64(v.next())})
	}
	p.due = int64(v.next())
	p.copied = fact[0] == factCopy
	if v.bad {
		return errMalformedFact
	}
	if err := message.CheckEnvelope(v.b); err != nil {
		return err
	}
	p.env = message.Envelope(v.b)
	return nil
}

// publishedEnvelope finds the envelope in a publish fact (type byte included),
// decoding into p.
func publishedEnvelope(fact []byte, p *published) (message.Envelope, error) {
	if len(fact) == 0 || fact[0] != factPublish && fact[0] != factCopy && fact[0] != factReplace {
		return nil, fmt.Errorf("%w: not a message", errMalformedFact)
	}
	if err := decodePublish(fact, p); err != nil {
		return nil, err
	}
	return p.env, nil
}

// decodeRange reads the payload of a settle or requeue fact, with withDue that
// of a retry fact.
func decodeRange(b []byte, withDue bool) (queueID uint64, h queue.Handle, n int, due int64, err error) {
	v := varints{b: b}
	queueID, h, n = v.next(), queue.Handle(v.next()), int(v.next())
	if withDue {
		due = int64(v.next())
	}
	if v.bad || len(v.b) != 0 || n < 0 || due < 0 {
		err = errMalformedFact
	}
	return queueID, h, n, due, err
}
