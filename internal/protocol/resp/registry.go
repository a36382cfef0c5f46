package resp

import (
	"cmp"
	"maps"
	"slices"
	"sync"
)

// registry holds the open connections.
type registry struct {
	mu   sync.Mutex
	byID map[uint64]*conn
}

func (r *registry) enter(c *conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byID[c.id] = c
}

func (r *registry) leave(c *conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byID, c.id)
}

// find returns the connection with that ID, or nil if there is none.
func (r *registry) find(id uint64) *conn {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byID[id]
}

// all returns the connections, ordered by ID.
func (r *registry) all() []*conn {
	r.mu.Lock()
	list := slices.Collect(maps.Values(r.byID))
	r.mu.Unlock()
	slices.SortFunc(list, func(a, b *conn) int { return cmp.Compare(a.id, b.id) })
	return list
}
