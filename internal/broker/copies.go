package broker

import (
	"slices"

	"fiveways/internal/core/message"
)

// copier delivers copies to one consumer, on a goroutine of its own.
type copier struct {
	c       *Consumer
	browser *Browser
	show    func(*Browsed) message.Envelope
	room    chan struct{} // 1 slot: the session's window may have room again
	stop    chan struct{} // closed by halt
	done    chan struct{} // closed after the last delivery
}

// ConsumeCopies registers a consumer that gets a copy of each message that a queue holds now, made
// by show. Then the broker cancels it, as when a queue is deleted. Its deliveries have no Queue,
// because they are not settled, and no Count. It does not count as a consumer of the queue. Of
// spec, Queue, Tag, Selector, Data and Started are used. Errors: those of Browse.
func (s *Session) ConsumeCopies(spec ConsumerSpec, show func(*Browsed) message.Envelope) (*Consumer, error) {
	browser, err := s.Browse(spec.Queue)
	if err != nil {
		return nil, err
	}
	c := &Consumer{Tag: spec.Tag, NoAck: true, Queue: browser.q, Data: spec.Data, session: s}
	c.state.Selector = spec.Selector
	c.copier = &copier{
		c: c, browser: browser, show: show,
		room: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
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
		page, err := k.browser.Next(pageMessages)
		if err != nil || len(page) == 0 {
			break
		}
		out = out[:0]
		for i := range page {
			if k.c.state.Selector == nil || k.c.state.Selector.Match(page[i].Env) {
				out = append(out, Delivery{Consumer: k.c, Env: k.show(&page[i]), Redelivered: page[i].Redelivered})
			}
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
