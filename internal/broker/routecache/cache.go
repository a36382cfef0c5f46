// Package routecache remembers the targets of one session's messages, so that a message with the
// same key is not routed again.
package routecache

import (
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/routing"
)

// Size bounds the cache of one session.
const Size = 1024

// route is the targets of messages with a key, and the counters of their exchange.
type route struct {
	targets shard.Targets
	traffic *routing.Traffic
}

// Cache remembers the targets of (exchange, key) pairs of one session as long as the routing table
// stays the same. If it is full and had few hits, the client's keys do not repeat, and it is off
// until the table changes.
type Cache struct {
	table   *routing.Table
	found   map[string]route
	name    []byte // scratch for the map key
	last    []byte // key of hit
	hit     shard.Targets
	Traffic *routing.Traffic // counters of the exchange of the last hit
	hits    int              // since the map was empty
	off     bool
}

// Get returns the targets of a key in a table, and sets Traffic if it has them.
func (rc *Cache) Get(t *routing.Table, exchange, key []byte) (shard.Targets, bool) {
	if rc.table != t {
		rc.table, rc.last, rc.hits, rc.off = t, nil, 0, false
		clear(rc.found)
	}
	if rc.off {
		return shard.Targets{}, false
	}
	rc.name = append(append(append(rc.name[:0], exchange...), 0), key...)
	if rc.last != nil && string(rc.name) == string(rc.last) {
		return rc.hit, true
	}
	found, ok := rc.found[string(rc.name)]
	if ok {
		rc.hits++
		rc.last, rc.hit, rc.Traffic = append(rc.last[:0], rc.name...), found.targets, found.traffic
	}
	return found.targets, ok
}

// Put adds the targets for which a Get with the same arguments was a miss.
func (rc *Cache) Put(t shard.Targets, traffic *routing.Traffic) {
	switch {
	case rc.off:
		return
	case rc.found == nil:
		rc.found = map[string]route{}
	case len(rc.found) >= Size:
		rc.off = rc.hits < Size
		rc.hits = 0
		clear(rc.found)
		return
	}
	rc.found[string(rc.name)] = route{t, traffic}
}
