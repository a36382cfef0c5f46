package broker

import (
	"encoding/binary"
	"fmt"
	"math"

	"fiveways/internal/core/dedup"
	"fiveways/internal/core/message"
)

// A queue or a relay with Policy.Deduplicate takes one message per key. The
// key is the value of a header; a message without it is never a duplicate.
// What was persistent when it came is remembered in the log, other keys are
// remembered by the process.

// dedupTTLHeader holds the ms for which the message's key is remembered, in
// place of Policy.DedupTTL.
const dedupTTLHeader = "x-cache-ttl"

// remembered is a key that a publish brings into the log.
type remembered struct {
	queue uint64
	key   dedup.Key
	at    int64 // unix ms
	until int64 // unix ms, 0 for ever
}

func newMemory(p *QueuePolicy) *dedup.Memory {
	return dedup.New(int(min(p.DedupEntries, math.MaxInt32)))
}

// dedupKey finds the key of a message and how long it is to be remembered, in
// ms, -1 for as long as there is room.
func (q *Queue) dedupKey(env message.Envelope) (key dedup.Key, ttl int64, ok bool) {
	peek, err := message.PeekProperties(env.Properties())
	if err != nil {
		return key, 0, false
	}
	v, ok := message.HeaderLookup(peek.Headers, q.Policy().DedupHeader)
	if !ok || v == nil {
		return key, 0, false
	}
	ttl = q.Policy().DedupTTL
	if own, ok := message.HeaderLookup(peek.Headers, dedupTTLHeader); ok {
		if ms, ok := message.Int(own); ok && ms > 0 {
			ttl = min(ms, maxDelay)
		}
	}
	return dedup.KeyOf(dedupValue(v)), ttl, true
}

// dedupValue turns a header's value into bytes. Text and integers stand for
// themselves, so that clients which send 7 with different widths, or "7",
// mean the same.
func dedupValue(v any) []byte {
	switch v := v.(type) {
	case string:
		return []byte(v)
	case message.Bytes:
		return v
	}
	return fmt.Append(nil, v)
}

// known tells whether the publish is a duplicate in q, and counts it.
func (sh *shard) known(q *Queue, o *op) bool {
	key, _, ok := q.dedupKey(o.env)
	if !ok || !q.remembers(sh, key) {
		return false
	}
	q.counts.Duplicates++
	sh.b.counters.duplicates.Add(1)
	return true
}

func (q *Queue) remembers(sh *shard, key dedup.Key) bool {
	m := sh.m.memories[q.ID]
	return m != nil && m.Known(key, sh.now) || q.memory != nil && q.memory.Known(key, sh.now)
}

// remember takes in the key of a publish that q has taken. What is to be in the
// log goes there with the publish.
func (sh *shard) remember(q *Queue, o *op) {
	key, ttl, ok := q.dedupKey(o.env)
	if !ok {
		return
	}
	r := remembered{queue: q.ID, key: key, at: sh.now}
	if ttl >= 0 {
		r.until = sh.now + max(ttl, 1)
	}
	if o.persistent && q.Durable {
		sh.m.applyRemember(&r)
		sh.remembers = append(sh.remembers, r)
		return
	}
	if q.memory == nil {
		q.memory = newMemory(q.Policy())
	}
	q.memory.Remember(r.key, r.at, r.until)
}

// recordKeys appends the facts of the keys that came with a publish, behind its
// own fact: the numbers of facts before that are given out already.
func (sh *shard) recordKeys() {
	for i := range sh.remembers {
		sh.entry.data = appendRemember(sh.entry.data, &sh.remembers[i])
		sh.sub++
	}
	sh.remembers = sh.remembers[:0]
}

// appendRemember appends the fact.
func appendRemember(dst []byte, r *remembered) []byte {
	n := uvarintLen(r.queue) + len(r.key) + uvarintLen(uint64(r.at)) + uvarintLen(uint64(r.until))
	dst = appendFact(dst, factRemember, n)
	dst = binary.AppendUvarint(dst, r.queue)
	dst = append(dst, r.key[:]...)
	dst = binary.AppendUvarint(dst, uint64(r.at))
	return binary.AppendUvarint(dst, uint64(r.until))
}

// decodeRemember reads the payload of the fact.
func decodeRemember(b []byte) (r remembered, err error) {
	v := varints{b: b}
	r.queue = v.next()
	if len(v.b) < len(r.key) {
		return r, errMalformedFact
	}
	r.key = dedup.Key(v.b)
	v.b = v.b[len(r.key):]
	r.at, r.until = int64(v.next()), int64(v.next())
	if v.bad || len(v.b) != 0 {
		return r, errMalformedFact
	}
	return r, nil
}

// applyRemember takes a key into the memory of a queue that is there.
func (m *machine) applyRemember(r *remembered) {
	if memory := m.memories[r.queue]; memory != nil {
		memory.Remember(r.key, r.at, r.until)
	}
}
