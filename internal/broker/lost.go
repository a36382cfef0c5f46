package broker

import (
	"errors"
	"sync"

	"fiveways.dev/fiveways/internal/storage/store"
)

// WhenLost registers fn, which is called once when this node loses its leadership. From then on the
// broker's state may differ from the cluster's log, and clients must not see it. fn is called
// before any open promise fails, or at once if leadership is already lost. It may run on any
// goroutine, even one that holds locks of the broker, so it must neither block nor call the broker.
func (b *Broker) WhenLost(fn func()) {
	fn = sync.OnceFunc(fn)
	look := func(s store.State) {
		if errors.Is(s.Err, store.ErrLost) {
			fn()
		}
	}
	b.set.Log.Watch(look)
	look(b.set.Log.State())
}
