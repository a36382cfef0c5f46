package broker

import (
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
)

// Source appends the next deliveries for c to out. more is false if none were left. They have no
// Queue, because there is nothing to settle.
type Source func(c *shard.Consumer, out []shard.Delivery) (all []shard.Delivery, more bool)

// copier feeds one consumer of ConsumeFrom.
type copier struct {
	s    *Session
	c    *shard.Consumer
	next Source
	room chan struct{} // 1 slot: the session's window may have reopened
	stop chan struct{} // closed by halt
	done chan struct{} // closed once no more deliveries can follow
}

// ConsumeFrom registers a consumer that gets the deliveries of next as fast as the session accepts
// them. Then the broker cancels it, as if its queue had been deleted. A separate goroutine calls
// next. The consumer names q as its queue, but q does not count it as one of its consumers. Only
// Tag, Data and Started of spec are used. Errors: ErrClosed.
func (s *Session) ConsumeFrom(spec shard.ConsumerSpec, q *shard.Queue, next Source) (*shard.Consumer, error) {
	c := shard.NewConsumer(&s.client, &shard.ConsumerSpec{Tag: spec.Tag, NoAck: true, Data: spec.Data})
	c.Queue = q
	k := &copier{s: s, c: c, next: next, room: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, failure.ErrClosed
	}
	if s.copiers == nil {
		s.copiers = map[*shard.Consumer]*copier{}
	}
	s.copiers[c] = k
	s.mu.Unlock()
	if spec.Started != nil {
		spec.Started()
	}
	go k.run()
	return c, nil
}

// run is the copier's goroutine.
func (k *copier) run() {
	defer close(k.done)
	s := k.s
	var out []shard.Delivery
	for {
		var more bool
		if out, more = k.next(k.c, out[:0]); !more {
			break
		}
		if !k.awaitRoom() {
			return
		}
		if len(out) > 0 {
			s.client.Sink.Deliver(out)
		}
		clear(out)
	}
	s.forgetCopier(k)
	if !k.stopped() {
		s.client.Sink.Cancelled(k.c)
	}
}

// awaitRoom waits until the session's window has room. It returns false if the copier must stop.
func (k *copier) awaitRoom() bool {
	for k.s.client.Window.Full() {
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

// halt stops the copier and returns once it has ended. Only the session's goroutine calls it.
func (k *copier) halt() {
	if !k.stopped() {
		close(k.stop)
	}
	<-k.done
	k.s.forgetCopier(k)
}

// copierOf returns the copier of a consumer, or nil unless ConsumeFrom created the consumer.
func (s *Session) copierOf(c *shard.Consumer) *copier {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.copiers[c]
}

func (s *Session) forgetCopier(k *copier) {
	s.mu.Lock()
	delete(s.copiers, k.c)
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
