package broker

import "slices"

// Source appends the next deliveries for c to out; more is false when there were none left. They
// have no Queue, for there is nothing to settle.
type Source func(c *Consumer, out []Delivery) (all []Delivery, more bool)

// copier is what runs behind a consumer of ConsumeFrom.
type copier struct {
	c    *Consumer
	next Source
	room chan struct{} // 1 slot: the session's window may be open again
	stop chan struct{} // closed by halt
	done chan struct{} // closed when no delivery can come any more
}

// ConsumeFrom registers a consumer that gets what next has for it, as fast as the session takes it,
// and is then cancelled by the broker, as when its queue is deleted. next is called on a goroutine
// of its own. The consumer does not count as one of q, of which it tells; of spec, Tag, Data and
// Started are used. Errors: ErrClosed.
func (s *Session) ConsumeFrom(spec ConsumerSpec, q *Queue, next Source) (*Consumer, error) {
	c := &Consumer{Tag: spec.Tag, NoAck: true, Queue: q, Data: spec.Data, session: s}
	c.copier = &copier{c: c, next: next, room: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, ErrClosed
	}
	s.copiers = append(s.copiers, c.copier)
	s.mu.Unlock()
	if spec.Started != nil {
		spec.Started()
	}
	go c.copier.run()
	return c, nil
}

// run is the copier's goroutine.
func (k *copier) run() {
	defer close(k.done)
	s := k.c.session
	var out []Delivery
	for {
		var more bool
		if out, more = k.next(k.c, out[:0]); !more {
			break
		}
		if !k.awaitRoom() {
			return
		}
		if len(out) > 0 {
			s.sink.Deliver(out)
		}
		clear(out)
	}
	s.forgetCopier(k)
	if !k.stopped() {
		s.sink.Cancelled(k.c)
	}
}

// awaitRoom waits until the session's window has room; false when the copier is to stop.
func (k *copier) awaitRoom() bool {
	for k.c.session.window.Full() {
		select {
		case <-k.room:
		case <-k.stop:
			return false
		}
	}
	return !k.stopped()
}

func (k *copier) stopped() bool {
	select {
	case <-k.stop:
		return true
	default:
		return false
	}
}

// halt stops the copier and returns when it has ended. Only the session's goroutine calls it.
func (k *copier) halt() {
	if !k.stopped() {
		close(k.stop)
	}
	<-k.done
	k.c.session.forgetCopier(k)
}

func (s *Session) forgetCopier(k *copier) {
	s.mu.Lock()
	s.copiers = slices.DeleteFunc(s.copiers, func(have *copier) bool { return have == k })
	s.mu.Unlock()
}

// wakeCopiers wakes the copiers that wait for room in the session's window.
func (s *Session) wakeCopiers() {
	s.mu.Lock()
	for _, k := range s.copiers {
		select {
		case k.room <- struct{}{}:
		default:
		}
	}
	s.mu.Unlock()
}
