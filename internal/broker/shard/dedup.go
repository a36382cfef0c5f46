package shard

import (
	"math"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/dedup"
	"fiveways.dev/fiveways/internal/core/shardstate"
)

// A queue or an exchange buffer with Policy.Deduplicate accepts one message per key. The key is the
// value of a header; a message without it is never a duplicate. Keys of persistent messages are in
// the log, other keys only in memory.

func newMemory(p *catalog.QueuePolicy) *dedup.Memory {
	return dedup.New(int(min(p.DedupEntries, math.MaxInt32)))
}

// known reports whether the publish is a duplicate in q, and counts it. A duplicate is confirmed
// once its original is durable, which may not be so yet.
func (sh *Shard) known(q *Queue, o *Op) bool {
	key, _, ok := dedup.KeyIn(o.Env, q.Policy().DedupHeader)
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

// remember records the key of a publish that q has accepted. logged reports whether a fact records
// the key.
func (sh *Shard) remember(q *Queue, o *Op) (logged bool) {
	key, own, ok := dedup.KeyIn(o.Env, q.Policy().DedupHeader)
	if !ok {
		return false
	}
	k := shardstate.Key{Key: key, At: sh.now}
	if own > 0 {
		k.Until = sh.now + min(own, MaxSpan)
	} else if ttl := q.Policy().DedupTTL; ttl >= 0 { // -1: as long as there is room
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
