package semaphore

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"
)

// Manager gives access to the semaphores of a virtual host.
type Manager struct {
	backend Backend
	closed  context.Context // canceled when Close begins
	close   context.CancelFunc

	mu      sync.Mutex      // not held during calls of the backend
	places  map[name]*place // guarded by mu
	hints   []*place        // guarded by mu: places to be read
	looking bool            // guarded by mu: lookAll is running
	looks   uint64          // guarded by mu: number of reads started
	busy    sync.WaitGroup  // goroutines; incremented with mu held, unless closed has ended
}

// New returns a manager for a backend. Closing the manager closes the backend.
func New(b Backend) *Manager {
	m := &Manager{backend: b, places: map[name]*place{}}
	m.closed, m.close = context.WithCancel(context.Background())
	return m
}

// Close ends waiting calls with ErrClosed, and the contexts of running tasks. The tasks stay
// enqueued or running until their leases end or they are released.
func (m *Manager) Close() error {
	m.mu.Lock()
	if m.closed.Err() != nil {
		m.mu.Unlock()
		m.busy.Wait()
		return nil
	}
	m.close()
	var over []func()
	for _, p := range m.places {
		over = append(over, m.empty(p, ErrClosed)...)
	}
	m.mu.Unlock()
	for _, end := range over {
		end()
	}
	err := m.backend.Close()
	m.busy.Wait()
	return err
}

// Semaphore returns a handle for a semaphore, which need not exist.
func (m *Manager) Semaphore(key string) *Semaphore { return &Semaphore{m, key} }

// GetOrCreate creates a semaphore if the key does not exist. An existing semaphore keeps its
// settings.
func (m *Manager) GetOrCreate(ctx context.Context, key string, s Settings) (*Semaphore, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	if _, err := m.backend.Create(ctx, key, s); err != nil {
		return nil, err
	}
	return m.Semaphore(key), nil
}

// Update changes settings, with immediate effect: tasks start, are asked to give way, or are no
// longer asked. Errors: ErrNotFound, ErrOrder.
func (m *Manager) Update(ctx context.Context, key string, s Settings) error {
	if err := s.validate(); err != nil {
		return err
	}
	return m.backend.Update(ctx, key, s)
}

// Delete removes a semaphore. Its tasks get the event Deleted. If it does not exist, that is no
// error.
func (m *Manager) Delete(ctx context.Context, key string) (deleted bool, err error) {
	return m.backend.Delete(ctx, key, false)
}

// DeleteIfEmpty removes a semaphore that has no tasks. Errors: ErrNotEmpty.
func (m *Manager) DeleteIfEmpty(ctx context.Context, key string) (deleted bool, err error) {
	return m.backend.Delete(ctx, key, true)
}

// List returns the semaphores whose keys match a Redis glob pattern ("" matches all), in key order.
// An error ends the sequence.
func (m *Manager) List(ctx context.Context, pattern string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		for after := ""; ; {
			page, next, err := m.backend.List(ctx, pattern, after)
			if err != nil {
				yield(Info{}, err)
				return
			}
			for _, i := range page {
				if !yield(i, nil) {
					return
				}
			}
			if after = next; next == "" {
				return
			}
		}
	}
}

// Acquire calls Semaphore.Acquire for the semaphore with this key.
func (m *Manager) Acquire(ctx context.Context, key, task string, priority float64) (context.Context, error) {
	return m.Semaphore(key).Acquire(ctx, task, priority)
}

// watchRoom is how many events are buffered for a slow receiver.
const watchRoom = 1024

// Watch returns a channel with all later events. It is closed when ctx ends or the manager closes.
// A slow receiver misses events, and so do all receivers while the broker cannot be reached. An
// EventMissed marks the gap.
func (m *Manager) Watch(ctx context.Context, o WatchOptions) (<-chan Event, error) {
	if err := m.ended(ctx); err != nil {
		return nil, err
	}
	w := &watcher{wake: make(chan struct{}, 1)}
	stop, err := m.backend.Watch(ctx, o, w.tell)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed.Err() != nil {
		stop()
		return nil, ErrClosed
	}
	out := make(chan Event)
	m.busy.Go(func() {
		defer close(out)
		defer stop()
		w.forward(ctx, m.closed, out)
	})
	return out, nil
}

// ended returns the reason why no call is possible, or nil.
func (m *Manager) ended(ctx context.Context) error {
	if m.closed.Err() != nil {
		return ErrClosed
	}
	return ctx.Err()
}

// watcher buffers events for a receiver.
type watcher struct {
	wake chan struct{} // capacity 1: events are buffered

	mu     sync.Mutex
	events []Event
}

// tell buffers an event, or an EventMissed if the buffer is full.
func (w *watcher) tell(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := len(w.events); n >= watchRoom {
		if w.events[n-1].Kind != EventMissed {
			w.events = append(w.events, Event{Kind: EventMissed})
		}
		return
	}
	w.events = append(w.events, e)
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// forward sends the buffered events until ctx ends or the manager closes.
func (w *watcher) forward(ctx, closed context.Context, out chan<- Event) {
	for {
		w.mu.Lock()
		events := w.events
		w.events = nil
		w.mu.Unlock()
		for _, e := range events {
			select {
			case out <- e:
			case <-ctx.Done():
				return
			case <-closed.Done():
				return
			}
		}
		if len(events) > 0 {
			continue
		}
		select {
		case <-w.wake:
		case <-ctx.Done():
			return
		case <-closed.Done():
			return
		}
	}
}

// validate returns an error for the first invalid setting.
func (s Settings) validate() error {
	switch {
	case s.Active != nil && *s.Active < 0:
		return fmt.Errorf("%w: Active is %d", ErrInvalid, *s.Active)
	case s.TryRelease != nil && *s.TryRelease < 0:
		return fmt.Errorf("%w: TryRelease is %d", ErrInvalid, *s.TryRelease)
	case s.Lease != nil && (*s.Lease < 0 || *s.Lease%time.Millisecond != 0):
		return fmt.Errorf("%w: Lease is %v; whole milliseconds", ErrInvalid, *s.Lease)
	}
	return nil
}
