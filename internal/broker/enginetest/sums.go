package enginetest

import (
	"sync"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/statemachine"
	"fiveways.dev/fiveways/internal/storage/store"
)

// place is an entry of a part of the state.
type place struct {
	part  uint32
	index uint64
}

// sum is a hash of a part of the state at a place.
type sum struct {
	hash uint64
	at   broker.Place
}

// sums are hashes of parts of a broker's state after some of their entries.
type sums struct {
	mu       sync.Mutex
	all      map[place]sum // guarded by mu
	compared int           // guarded by mu
}

// SumsDuring takes hashes of the parts of a broker's state again and again while fn works. When the
// broker is compared (Compare), a replica must have the same hashes after the same entries. It
// fails the test if it could take none.
func SumsDuring(t testing.TB, b *broker.Broker, fn func()) {
	t.Helper()
	v, ok := opened.Load(b)
	if !ok {
		t.Fatal("the broker is not one that Open has opened")
	}
	seen := v.(origin).seen
	done := make(chan struct{})
	go func() {
		defer close(done)
		fn()
	}()
	last := map[uint32]uint64{}
	for working := true; working; {
		select {
		case <-done:
			working = false
		default:
		}
		for _, part := range b.Parts() {
			//nolint:errcheck // a broker that is closed has no more sums
			b.Sum(part, last[part], func(hash uint64, at broker.Place) {
				last[part] = at.Last
				seen.mu.Lock()
				defer seen.mu.Unlock()
				seen.all[place{part, at.Last}] = sum{hash, at}
			})
		}
	}
	if len(seen.all) == 0 {
		t.Error("there are no sums")
	}
}

// checked is a replica that is to have the sums of the broker that it followed.
type checked struct {
	t testing.TB
	*broker.Replica
	seen *sums
}

// Apply implements followtest.Replica.
func (c *checked) Apply(batch []store.Entry) error {
	err := c.Replica.Apply(batch)
	c.seen.mu.Lock()
	defer c.seen.mu.Unlock()
	for i := range batch {
		e := &batch[i]
		want, ok := c.seen.all[place{e.Shard, e.Index}]
		if !ok || err != nil {
			continue
		}
		got, ok := c.Sum(e.Shard, want.at)
		if ok {
			c.seen.compared++
		}
		if ok && got != want.hash {
			c.t.Errorf("%s: after entry %d a replica has another state than the broker had", statemachine.ShardName(e.Shard), e.Index)
		}
	}
	return err
}
