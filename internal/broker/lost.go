package broker

import (
	"errors"
	"sync"

	"fiveways.dev/fiveways/internal/storage/store"
)

// WhenLost has fn called, once, when this node loses its leadership: the state of the broker may
// differ from the log of the cluster from then on, and clients must hear no more of it. fn is
// called before any promise that is open fails, at once when leadership is lost already. It may be
// called on any goroutine, also one that holds locks of the broker: it must neither wait nor call
// the broker.
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
