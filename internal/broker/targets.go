package broker

import (
	"slices"

	"fiveways/internal/core/message"
	"fiveways/internal/core/routing"
)

// Targets are the queues a message goes to, those of one shard side by side.
// The slice is shared and never changed.
type Targets struct {
	queues []*Queue
	parts  int // shards among them
}

func newTargets(queues []*Queue) Targets {
	if len(queues) > 1 {
		slices.SortStableFunc(queues, func(a, b *Queue) int { return int(a.shard.id) - int(b.shard.id) })
	}
	t := Targets{queues: queues}
	for i, q := range queues {
		if i == 0 || q.shard != queues[i-1].shard {
			t.parts++
		}
	}
	return t
}

// Empty tells that no queue gets the message.
func (t Targets) Empty() bool { return len(t.queues) == 0 }

// Parts is how many shards hold the queues: a Confirmer is called once for each.
func (t Targets) Parts() int { return t.parts }

// each calls fn once per shard with base completed for it.
func (t Targets) each(base op, fn func(*shard, op)) {
	for i := 0; i < len(t.queues); {
		end := i + 1
		for end < len(t.queues) && t.queues[end].shard == t.queues[i].shard {
			end++
		}
		o := base
		o.queue, o.more = t.queues[i], t.queues[i+1:end]
		fn(o.queue.shard, o)
		i = end
	}
}

// routeCacheSize bounds the cache of one session.
const routeCacheSize = 1024

// routeCache remembers the targets of (exchange, key) pairs of one session, as
// long as the routing table stays the same. When it is full without having been
// of use, the client's keys do not repeat, and it stays out of the way until
// the table changes.
type routeCache struct {
	table *routing.Table
	found map[string]Targets
	name  []byte // scratch for the map key
	last  []byte // key of hit
	hit   Targets
	hits  int // since the map was empty
	off   bool
}

func (rc *routeCache) get(t *routing.Table, exchange, key []byte) (Targets, bool) {
	if rc.table != t {
		rc.table, rc.last, rc.hits, rc.off = t, nil, 0, false
		clear(rc.found)
	}
	if rc.off {
		return Targets{}, false
	}
	rc.name = append(append(append(rc.name[:0], exchange...), 0), key...)
	if rc.last != nil && string(rc.name) == string(rc.last) {
		return rc.hit, true
	}
	found, ok := rc.found[string(rc.name)]
	if ok {
		rc.hits++
		rc.last, rc.hit = append(rc.last[:0], rc.name...), found
	}
	return found, ok
}

// put adds what a get with the same arguments did not find.
func (rc *routeCache) put(t Targets) {
	switch {
	case rc.off:
		return
	case rc.found == nil:
		rc.found = map[string]Targets{}
	case len(rc.found) >= routeCacheSize:
		rc.off = rc.hits < routeCacheSize
		rc.hits = 0
		clear(rc.found)
		return
	}
	rc.found[string(rc.name)] = t
}

// resolve turns what routing found into targets.
func (v *VHost) resolve(ids []routing.QueueID) Targets {
	if len(ids) == 0 {
		return Targets{}
	}
	queues := make([]*Queue, 0, len(ids))
	for _, id := range ids {
		if q, ok := v.b.queueByID(uint64(id)); ok {
			queues = append(queues, q)
		}
	}
	return newTargets(queues)
}

// route finds the targets of a dead letter; a missing exchange means none.
func (v *VHost) route(exchange string, m *deadMessage) Targets {
	peek, err := message.PeekProperties(m.props)
	if err != nil {
		return Targets{}
	}
	var r routing.Route
	rm := routing.Message{
		Key: m.key, Also: m.also, Headers: peek.Headers,
		MessageID: peek.MessageID, CorrelationID: peek.CorrelationID, Timestamp: uint64(peek.Timestamp), Props: m.props,
	}
	if err := v.table.Load().Route(exchange, &rm, &r); err != nil {
		return Targets{}
	}
	return v.resolve(r.Queues)
}
