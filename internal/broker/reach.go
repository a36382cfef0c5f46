package broker

import (
	"iter"
	"maps"
	"slices"

	"fiveways/internal/core/catalog"
	"fiveways/internal/core/routing"
	"fiveways/internal/storage/store"
)

// EachQueue runs fn for each queue, by its ID, at its shard. Errors: ErrClosed.
func (b *Broker) EachQueue(fn func(Context)) error {
	for _, sh := range b.shards {
		err := sh.call(func() {
			for _, id := range slices.Sorted(maps.Keys(sh.queues)) {
				fn(Context{sh, sh.queues[id]})
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// At runs fn at the shard of a queue, which may be gone, and returns when that is done. Errors:
// ErrClosed.
func (b *Broker) At(q *Queue, fn func(Context)) error {
	return q.shard.call(func() { fn(Context{q.shard, q}) })
}

// eachStep is how many queues AtEach does before the shard does something else.
const eachStep = 512

// AtEach runs fn for each of some queues at its shard, one shard after the other. i is the place of
// the queue in the slice. Queues that are gone are left out. Errors: ErrClosed.
func (b *Broker) AtEach(queues []*Queue, fn func(i int, at Context)) error {
	places := make([][]int, len(b.shards))
	for i, q := range queues {
		n := q.shard.id - 1
		places[n] = append(places[n], i)
	}
	for n, sh := range b.shards {
		for step := range slices.Chunk(places[n], eachStep) {
			err := sh.call(func() {
				for _, i := range step {
					if q := queues[i]; !q.gone {
						fn(i, Context{sh, q})
					}
				}
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// EachRetired runs fn for what each shard has counted in queues that are gone, by virtual host,
// which may be gone, too. Errors: ErrClosed.
func (b *Broker) EachRetired(fn func(*VHost, *Counts)) error {
	for _, sh := range b.shards {
		err := sh.call(func() {
			for v, counts := range sh.retired {
				fn(v, counts)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// NewReader returns a reader of the messages of a queue that are only in the log, for one
// goroutine.
func (b *Broker) NewReader(q *Queue) *store.Reader { return b.store.NewReader(q.shard.id) }

// AllVHosts yields the virtual hosts by name.
func (b *Broker) AllVHosts() iter.Seq[*VHost] {
	return func(yield func(*VHost) bool) {
		for _, def := range b.catalog.VHosts() {
			if !yield(vhostOf(def)) {
				return
			}
		}
	}
}

// Queues yields the queues of the virtual host, without those that belong to exchanges.
func (v *VHost) Queues() iter.Seq[*Queue] {
	return func(yield func(*Queue) bool) {
		for _, id := range v.Table().Queues() {
			if q, ok := v.b.queueByID(uint64(id)); ok && !yield(q) {
				return
			}
		}
	}
}

// Traffic counts what came to the exchanges of the virtual host, those that are gone included.
func (v *VHost) Traffic() *routing.Traffic { return &v.traffic }

// QueueOf is the queue of a definition.
func QueueOf(def *catalog.Queue) *Queue { return queueOf(def) }

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
