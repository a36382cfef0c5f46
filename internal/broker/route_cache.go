package broker

import (
	"fiveways/internal/broker/shard"
	"fiveways/internal/core/routing"
)

// routeCacheSize bounds the cache of one session.
const routeCacheSize = 1024

// cachedRoute is what a message with a key goes to, and the counters of its exchange.
type cachedRoute struct {
	targets shard.Targets
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
	hit     shard.Targets
	traffic *routing.Traffic // of the exchange of hit
	hits    int              // since the map was empty
	off     bool
}

func (rc *routeCache) get(t *routing.Table, exchange, key []byte) (shard.Targets, bool) {
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
		rc.last, rc.hit, rc.traffic = append(rc.last[:0], rc.name...), found.targets, found.traffic
	}
	return found.targets, ok
}

// put adds the targets that a get with the same arguments has not found.
func (rc *routeCache) put(t shard.Targets, traffic *routing.Traffic) {
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
