package etcd

import (
	"context"
	"sync"
)

// keyedMutex is a mutex per key. Logins hold the one of their client: otherwise a client could wait
// out the delays of many wrong passwords in parallel.
type keyedMutex struct {
	mu   sync.Mutex
	keys map[string]*keyLock
}

type keyLock struct {
	held  chan struct{} // capacity 1, full while a caller holds the lock
	users int           // callers that hold the lock or wait for it; guarded by keyedMutex.mu
}

// lock acquires the lock of a key. It returns only the error of ctx.
func (m *keyedMutex) lock(ctx context.Context, key string) (unlock func(), err error) {
	m.mu.Lock()
	l := m.keys[key]
	if l == nil {
		l = &keyLock{held: make(chan struct{}, 1)}
		if m.keys == nil {
			m.keys = map[string]*keyLock{}
		}
		m.keys[key] = l
	}
	l.users++
	m.mu.Unlock()
	leave := func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(m.keys, key)
		}
	}
	select {
	case l.held <- struct{}{}:
		return func() { <-l.held; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
