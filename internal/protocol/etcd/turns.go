package etcd

import (
	"context"
	"sync"
)

// turns lets the calls of one client that it must make one after the other wait for each other: else the delay that a wrong password costs could be
// had many times at once on one connection.
type turns struct {
	mu    sync.Mutex
	taken map[string]*turn // by client
}

type turn struct {
	slot    chan struct{} // has one slot: full while somebody is at it
	clients int           // that have the turn or wait for it; guarded by turns.mu
}

// take waits for the client's turn; done gives it back. Errors: that of ctx.
func (t *turns) take(ctx context.Context, client string) (done func(), err error) {
	t.mu.Lock()
	mine := t.taken[client]
	if mine == nil {
		mine = &turn{slot: make(chan struct{}, 1)}
		if t.taken == nil {
			t.taken = map[string]*turn{}
		}
		t.taken[client] = mine
	}
	mine.clients++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if mine.clients--; mine.clients == 0 {
			delete(t.taken, client)
		}
	}
	select {
	case mine.slot <- struct{}{}:
		return func() { <-mine.slot; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
