package broker

import (
	"fmt"
	"math"

	"fiveways/internal/core/dedup"
	"fiveways/internal/core/message"
	"fiveways/internal/core/shardstate"
)

// A queue or a relay with Policy.Deduplicate takes one message per key. The
// key is the value of a header; a message without it is never a duplicate.
// What was persistent when it came is remembered in the log, other keys are
// remembered by the process.

// dedupTTLHeader holds the ms for which the message's key is remembered, in
// place of Policy.DedupTTL.
const dedupTTLHeader = "x-cache-ttl"

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

// known reports whether the publish is a duplicate in q, and counts it. Its confirm then promises
// what that of the original does, which may still be on its way to the log.
func (sh *shard) known(q *Queue, o *op) bool {
	key, _, ok := q.dedupKey(o.env)
	if !ok || !q.remembers(sh, key) {
		return false
	}
	if o.persistent && q.Durable {
		sh.duplicate, sh.promise = true, max(sh.promise, q.promise)
	}
	q.counts.Duplicates++
	sh.b.counters.duplicates.Add(1)
	return true
}

func (q *Queue) remembers(sh *shard, key dedup.Key) bool {
	logged := q.content.Keys
	return logged != nil && logged.Known(key, sh.now) || q.memory != nil && q.memory.Known(key, sh.now)
}

// remember takes in the key of a publish that q has taken, and reports whether
// that is recorded.
func (sh *shard) remember(q *Queue, o *op) (logged bool) {
	key, ttl, ok := q.dedupKey(o.env)
	if !ok {
		return false
	}
	k := shardstate.Key{Key: key, At: sh.now}
	if ttl >= 0 {
		k.Until = sh.now + max(ttl, 1)
	}
	if o.persistent && q.Durable {
		sh.facts.Remember(q.content, &k)
		return true
	}
	if q.memory == nil {
		q.memory = newMemory(q.Policy())
	}
	q.memory.Remember(key, k.At, k.Until)
	return false
}
