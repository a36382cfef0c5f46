package resp

import (
	"cmp"
	"slices"
	"sync"
)

// registry is the connections there are.
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

// find is the connection of that number, nil when there is none.
func (r *registry) find(id uint64) *conn {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byID[id]
}

// all are the connections in the order in which they came.
func (r *registry) all() []*conn {
	r.mu.Lock()
	list := make([]*conn, 0, len(r.byID))
	for _, c := range r.byID {
		list = append(list, c)
	}
	r.mu.Unlock()
	slices.SortFunc(list, func(a, b *conn) int { return cmp.Compare(a.id, b.id) })
	return list
}
