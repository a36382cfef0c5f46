package broker

import (
	"errors"
	"sync"

	"fiveways.dev/fiveways/internal/storage/store"
)

// WhenLost registers fn, which is called once when this node loses its leadership: from then on the
// broker's state may differ from the cluster's log, and clients must not see any more of it. fn is
// called before any open promise fails, and at once if leadership is already lost. It may be called
// on any goroutine, also one that holds locks of the broker: it must neither wait nor call the
// broker.
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
