package semkeys

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"sync"

	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
	"fiveways.dev/fiveways/internal/semaphores"
)

// leases removes the tasks of ended leases: of those that end meanwhile, all at once.
type leases struct {
	n    *Namespace
	log  *slog.Logger
	wake chan struct{} // full when ended is not empty or stopped is set
	done chan struct{} // closed when the goroutine has exited

	mu      sync.Mutex
	ended   []int64
	ending  map[int64]int // how often each lease has ended whose tasks are not removed yet
	removed sync.Cond     // ending has become smaller, or stopped is set
	stopped bool
}

func (l *leases) init(n *Namespace, log *slog.Logger) {
	l.n, l.log, l.wake, l.done = n, log, make(chan struct{}, 1), make(chan struct{})
	l.ending, l.removed.L = map[int64]int{}, &l.mu
	for _, owner := range n.m.Owners() {
		if !n.LeaseExists(owner) {
			l.end(owner)
		}
	}
	go l.run()
}

// end records that a lease has ended. It does not wait.
func (l *leases) end(lease int64) {
	l.mu.Lock()
	l.ended = append(l.ended, lease)
	l.ending[lease]++
	l.mu.Unlock()
	l.poke()
}

func (l *leases) poke() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *leases) run() {
	defer close(l.done)
	for range l.wake {
		l.mu.Lock()
		ended, stopped := l.ended, l.stopped
		l.ended = nil
		l.mu.Unlock()
		if stopped {
			return // the next start finds the ended leases
		}
		if err := l.n.m.EndOwners(ended...); err != nil {
			l.log.Error("etcd: the tasks of ended leases could not be removed", "leases", len(ended), "err", err)
		}
		l.settle(ended)
	}
}

// settle notes that the tasks of ended leases are removed.
func (l *leases) settle(ended []int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, lease := range ended {
		if l.ending[lease]--; l.ending[lease] == 0 {
			delete(l.ending, lease)
		}
	}
	l.removed.Broadcast()
}

// await returns when the tasks of a lease that has ended are removed, or ctx ends.
func (l *leases) await(ctx context.Context, lease int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ending[lease] == 0 {
		return
	}
	defer context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.removed.Broadcast()
	})()
	for l.ending[lease] > 0 && !l.stopped && ctx.Err() == nil {
		l.removed.Wait()
	}
}

func (l *leases) close(ctx context.Context) {
	l.mu.Lock()
	l.stopped = true
	l.removed.Broadcast()
	l.mu.Unlock()
	l.poke()
	select {
	case <-l.done:
	case <-ctx.Done():
	}
}

// LeaseEnded is called when a lease was revoked or has expired. It does not wait for the
// consequences.
func (n *Namespace) LeaseEnded(lease int64) { n.leases.end(lease) }

// AwaitLeaseEnd returns when the tasks of a lease that has ended are removed, or ctx ends.
func (n *Namespace) AwaitLeaseEnd(ctx context.Context, lease int64) { n.leases.await(ctx, lease) }

// MayEndLease checks that a caller may end a lease: all tasks that the lease owns must be in
// semaphores that the caller may write.
func (n *Namespace) MayEndLease(who Caller, lease int64) error {
	for _, ref := range n.m.OwnedIn(lease) {
		if ref.VHost != virtual.VHost {
			continue // it does not belong to etcd leases
		}
		if err := may(who, toWrite, ref.Key); err != nil {
			return err
		}
	}
	return nil
}

// LeaseKeys returns the keys of the tasks that a lease owns, in key order, for semaphores that the
// caller may read.
func (n *Namespace) LeaseKeys(who Caller, lease int64) (keys [][]byte) {
	for _, ref := range n.owned(lease) {
		if may(who, toRead, ref.Key) == nil {
			keys = append(keys, path{ref.Key, ref.Task}.appendKey(nil))
		}
	}
	slices.SortFunc(keys, bytes.Compare)
	return keys
}

// owned returns the tasks that a lease owns. Tasks in other virtual hosts do not belong to etcd
// leases.
func (n *Namespace) owned(lease int64) (tasks []semaphores.Ref) {
	for _, ref := range n.m.Owned(lease, 0) {
		if ref.VHost == virtual.VHost {
			tasks = append(tasks, ref)
		}
	}
	return tasks
}
