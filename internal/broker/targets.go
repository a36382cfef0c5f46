package broker

import (
	"slices"

	"fiveways/internal/core/deadletter"
	"fiveways/internal/core/routing"
)

// Targets are the queues a message goes to, those of one shard side by side, relays behind the
// others. The slice is shared and never changed. Targets take four words, the most that the
// compiler keeps in registers.
type Targets struct {
	queues []*Queue
	parts  int32 // publishes they need: one for each shard, and one for each relay
	relays bool  // there are relays among them
}

func newTargets(queues []*Queue) Targets {
	if len(queues) > 1 {
		slices.SortStableFunc(queues, func(a, b *Queue) int { return a.part() - b.part() })
	}
	t := Targets{queues: queues}
	for i, q := range queues {
		if i == 0 || q.shard != queues[i-1].shard || q.relay != nil {
			t.parts++
		}
		t.relays = t.relays || q.relay != nil
	}
	return t
}

// part orders queues so that those of one publish are side by side.
func (q *Queue) part() int {
	n := 2 * int(q.shard.id)
	if q.relay != nil {
		n++
	}
	return n
}

// within reports whether all of them are ordinary queues of one shard.
func (t Targets) within(sh *shard) bool {
	return t.Empty() || t.parts == 1 && !t.relays && t.queues[0].shard == sh
}

// OnlyCopied reports whether only exchanges that keep copies of messages get the message.
func (t Targets) OnlyCopied() bool {
	for _, q := range t.queues {
		if q.relay == nil || !q.relay.Keeps {
			return false
		}
	}
	return len(t.queues) > 0
}

// Relayed reports whether one of the queues belongs to an exchange: then it is open whether the
// message reaches a client's queue.
func (t Targets) Relayed() bool { return t.relays }

// Empty reports whether no queue gets the message.
func (t Targets) Empty() bool { return len(t.queues) == 0 }

// Queues are the queues, the caller's to read only.
func (t Targets) Queues() []*Queue { return t.queues }

// names are the names of the queues that belong to no exchange.
func (t Targets) names() (all []string) {
	for _, q := range t.queues {
		if q.relay == nil {
			all = append(all, q.Name)
		}
	}
	return all
}

// Without is the targets without the queue of a name.
func (t Targets) Without(queue string) Targets {
	if !slices.ContainsFunc(t.queues, func(q *Queue) bool { return q.Name == queue }) {
		return t
	}
	return newTargets(slices.DeleteFunc(slices.Clone(t.queues), func(q *Queue) bool { return q.Name == queue }))
}

// Renew finds the queues of t again by their names, and adds the queue that is named key, "" for
// none. A deleted queue is no target any more; a queue that has its name now is one instead.
func (s *Session) Renew(t Targets, key string) Targets {
	table := s.vhost.Table()
	find := func(q *Queue) *Queue {
		if q.relay != nil { // it belongs to its exchange, and has no name that clients give
			if x, ok := table.Exchange(q.relay.Exchange); !ok || x.Relay().Queue != routing.QueueID(q.ID) {
				return nil
			}
			return q
		}
		now, _ := s.b.queueIn(table, q.Name)
		return now
	}
	same := true
	for _, q := range t.queues {
		same = same && find(q) == q
		if q.Name == key {
			key = ""
		}
	}
	var named *Queue
	if q, ok := s.b.queueIn(table, key); ok && q.relay == nil {
		named = q
	}
	if same && named == nil {
		return t
	}
	var queues []*Queue
	for _, q := range t.queues {
		if now := find(q); now != nil {
			queues = append(queues, now)
		}
	}
	if named != nil {
		queues = append(queues, named)
	}
	return newTargets(queues)
}

// Parts is how many publishes the queues need: a Confirmer is called once for each.
func (t Targets) Parts() int { return int(t.parts) }

// each calls fn once per part with base completed for it.
func (t Targets) each(base op, fn func(*shard, op)) {
	for i := 0; i < len(t.queues); {
		end := i + 1
		for end < len(t.queues) && t.queues[end].shard == t.queues[i].shard && t.queues[end].relay == nil {
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

// cachedRoute is what a message with a key goes to, and the counters of its exchange.
type cachedRoute struct {
	targets Targets
	traffic *routing.Traffic
}

// routeCache remembers the targets of (exchange, key) pairs of one session as long as the routing
// table stays the same. When it is full and had few hits, the client's keys do not repeat: it is
// off until the table changes.
type routeCache struct {
	table   *routing.Table
	found   map[string]cachedRoute
	name    []byte // scratch for the map key
	last    []byte // key of hit
	hit     Targets
	traffic *routing.Traffic // of the exchange of hit
	hits    int              // since the map was empty
	off     bool
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
		rc.last, rc.hit, rc.traffic = append(rc.last[:0], rc.name...), found.targets, found.traffic
	}
	return found.targets, ok
}

// put adds the targets that a get with the same arguments has not found.
func (rc *routeCache) put(t Targets, traffic *routing.Traffic) {
	switch {
	case rc.off:
		return
	case rc.found == nil:
		rc.found = map[string]cachedRoute{}
	case len(rc.found) >= routeCacheSize:
		rc.off = rc.hits < routeCacheSize
		rc.hits = 0
		clear(rc.found)
		return
	}
	rc.found[string(rc.name)] = cachedRoute{t, traffic}
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

// route finds the targets of a dead letter; without its exchange there are none.
func (v *VHost) route(m *deadletter.Message) Targets {
	var r routing.Route
	rm := m.Routed()
	if err := v.Table().Route(string(m.Env.Exchange()), &rm, &r); err != nil {
		return Targets{}
	}
	return v.resolve(r.Queues)
}
