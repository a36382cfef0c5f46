package broker

import (
	"slices"

	"fiveways/internal/core/routing"
)

// Scanned is a queue that Scan has found.
type Scanned struct {
	Name string
	Kind Kind // not NoKind
}

// Scan looks at the next n queues of the virtual host from a place on, 0 is the first, and returns
// those that are of a kind and that the session may read, with the place to go on at; 0 is the end.
// Whoever goes on until the end has seen each queue that was of a kind all the time. Errors:
// ErrClosed.
func (s *Session) Scan(from uint64, n int) (found []Scanned, next uint64, err error) {
	s.Flush()
	ids := s.vhost.queueIDs()
	at, _ := slices.BinarySearch(ids, from)
	ids = ids[at:]
	if n < len(ids) {
		next = ids[n]
		ids = ids[:n]
	}
	byShard := map[*shard][]*Queue{}
	for _, id := range ids {
		q, ok := s.b.queueByID(id)
		if ok && (q.owner == nil || q.owner == s) && s.may(toRead, "queue", q.Name) == nil {
			byShard[q.shard] = append(byShard[q.shard], q)
		}
	}
	for sh, queues := range byShard {
		err := sh.call(func() {
			for _, q := range queues {
				if kind := q.kind(); kind != NoKind {
					found = append(found, Scanned{q.Name, kind})
				}
			}
		})
		if err != nil {
			return nil, 0, err
		}
	}
	return found, next, nil
}

// scanOrder is the ids of the queues of a virtual host in their order.
type scanOrder struct {
	table *routing.Table // as it was
	ids   []uint64
}

// queueIDs are the ids of the queues, in their order.
func (v *VHost) queueIDs() []uint64 {
	table := v.Table()
	if o := v.scan.Load(); o != nil && o.table == table {
		return o.ids
	}
	o := &scanOrder{table: table}
	for _, id := range table.Queues() {
		o.ids = append(o.ids, uint64(id))
	}
	slices.Sort(o.ids)
	v.scan.Store(o)
	return o.ids
}
