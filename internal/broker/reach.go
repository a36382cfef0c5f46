package broker

import (
	"iter"
	"slices"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/core/routing"
	"fiveways.dev/fiveways/internal/storage/store"
)

// EachQueue runs fn for each queue, by its ID, at its shard. Errors: ErrClosed.
func (b *Broker) EachQueue(fn func(shard.Context)) error {
	for _, sh := range b.set.All {
		if err := sh.Each(fn); err != nil {
			return err
		}
	}
	return nil
}

// At runs fn at the shard of a queue, which may be deleted, and returns once fn has returned.
// Errors: ErrClosed.
func (b *Broker) At(q *shard.Queue, fn func(shard.Context)) error {
	return q.At(fn)
}

// eachStep is the number of queues that AtEach visits before the shard may do other work.
const eachStep = 512

// AtEach runs fn for each queue at its shard, one shard after the other. i is the index of the
// queue in the slice. Deleted queues are skipped. Errors: ErrClosed.
func (b *Broker) AtEach(queues []*shard.Queue, fn func(i int, at shard.Context)) error {
	places := make([][]int, len(b.set.All))
	for i, q := range queues {
		n := q.Home().ID - 1
		places[n] = append(places[n], i)
	}
	for n, sh := range b.set.All {
		for step := range slices.Chunk(places[n], eachStep) {
			err := sh.Call(func() {
				for _, i := range step {
					if at := shard.ContextOf(queues[i]); !at.Gone() {
						fn(i, at)
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

// EachRetired runs fn for the counts that each shard has of deleted queues, by virtual host, which
// may be deleted, too. Errors: ErrClosed.
func (b *Broker) EachRetired(fn func(*shard.VHost, *queue.Counts)) error {
	for _, sh := range b.set.All {
		if err := sh.EachRetired(fn); err != nil {
			return err
		}
	}
	return nil
}

// NewReader returns a reader for the messages of a queue that are only in the log. One goroutine at
// a time may use it.
func (b *Broker) NewReader(q *shard.Queue) *store.Reader { return b.set.Store.NewReader(q.Home().ID) }

// AllVHosts yields the virtual hosts by name.
func (b *Broker) AllVHosts() iter.Seq[*shard.VHost] {
	return func(yield func(*shard.VHost) bool) {
		for _, def := range b.set.Catalog.VHosts() {
			if !yield(shard.VHostOf(def)) {
				return
			}
		}
	}
}

// Renew finds the queues of t again by their names, and adds the queue named key, unless that is
// empty. A deleted queue is no longer a target; a new queue with its name replaces it.
func (s *Session) Renew(t shard.Targets, key string) shard.Targets {
	table := s.vhost.Table()
	find := func(q *shard.Queue) *shard.Queue {
		if q.Buffer != nil { // it belongs to its exchange, and clients cannot name it
			if x, ok := table.Exchange(q.Buffer.Exchange); !ok || x.Buffer().Queue != routing.QueueID(q.ID) {
				return nil
			}
			return q
		}
		now, _ := s.b.set.QueueIn(table, q.Name)
		return now
	}
	same := true
	for _, q := range t.Queues() {
		same = same && find(q) == q
		if q.Name == key {
			key = ""
		}
	}
	var named *shard.Queue
	if q, ok := s.b.set.QueueIn(table, key); ok && q.Buffer == nil {
		named = q
	}
	if same && named == nil {
		return t
	}
	var queues []*shard.Queue
	for _, q := range t.Queues() {
		if now := find(q); now != nil {
			queues = append(queues, now)
		}
	}
	if named != nil {
		queues = append(queues, named)
	}
	return shard.NewTargets(queues)
}
