package shard

import (
	"fmt"
	"math"

	"fiveways/internal/core/catalog"
	"fiveways/internal/core/dedup"
	"fiveways/internal/core/message"
	"fiveways/internal/core/shardstate"
)

// A queue or an exchange buffer with Policy.Deduplicate takes one message per key. The key is the
// value of a header; a message without it is never a duplicate. Keys of persistent messages are in
// the log, other keys in memory only.

// dedupTTLHeader is how long the message's key is remembered, ms, in place of Policy.DedupTTL.
const dedupTTLHeader = "x-cache-ttl"

func newMemory(p *catalog.QueuePolicy) *dedup.Memory {
	return dedup.New(int(min(p.DedupEntries, math.MaxInt32)))
}

// dedupKey returns the key of a message and how long to remember it, ms; -1: as long as there is
// room.
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
			ttl = min(ms, MaxSpan)
		}
	}
	return dedup.KeyOf(dedupValue(v)), ttl, true
}

// dedupValue turns a header's value into bytes. Integers are written as text, so that 7 in any
// width and "7" are one key.
func dedupValue(v any) []byte {
	switch v := v.(type) {
	case string:
		return []byte(v)
	case message.Bytes:
		return v
	}
	return fmt.Append(nil, v)
}

// known reports whether the publish is a duplicate in q, and counts it. The confirm of a duplicate
// waits until the original is durable, which may still be on its way to the log.
func (sh *Shard) known(q *Queue, o *Op) bool {
	key, _, ok := q.dedupKey(o.Env)
	if !ok || !q.remembers(sh, key) {
		return false
	}
	if o.persistent && q.Durable {
		sh.duplicate, sh.promise = true, max(sh.promise, q.promise)
	}
	q.counts.Duplicates++
	sh.set.Counters.Duplicates.Add(1)
	return true
}

func (q *Queue) remembers(sh *Shard, key dedup.Key) bool {
	logged := q.content.Keys
	return logged != nil && logged.Known(key, sh.now) || q.memory != nil && q.memory.Known(key, sh.now)
}

// remember remembers the key of a publish that q has taken, and reports whether a fact records
// that.
func (sh *Shard) remember(q *Queue, o *Op) (logged bool) {
	key, ttl, ok := q.dedupKey(o.Env)
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
