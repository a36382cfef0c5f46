package broker

import (
	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
	"fiveways/internal/storage/store"
)

// Scheduled is a message whose time has not come.
type Scheduled struct {
	Handle    queue.Handle // its place in the schedule
	MessageID string       // as its sender named it, or ""
	Due       int64        // unix ms
	Size      int          // of the body, bytes
	Exchange  string       // it was published to
	Key       string
}

// Schedule is the messages that wait for their time in one place: a queue, or
// an exchange that holds messages.
type Schedule struct {
	s *Session
	q *Queue
}

// scanStep is how many messages are looked at before the shard does something
// else.
const scanStep = 256

// QueueSchedule is the schedule of a queue. Errors: ErrAccessRefused,
// ErrQueueNotFound, ErrExclusive.
func (s *Session) QueueSchedule(name string) (*Schedule, error) {
	if err := s.may(toRead, "queue", name); err != nil {
		return nil, err
	}
	q, err := s.usableQueue(name)
	if err != nil {
		return nil, err
	}
	return &Schedule{s, q}, nil
}

// ExchangeSchedule is the schedule of an exchange; one that holds no messages
// has an empty one. Errors: ErrAccessRefused, ErrExchangeNotFound.
func (s *Session) ExchangeSchedule(name string) (*Schedule, error) {
	if err := s.may(toRead, "exchange", name); err != nil {
		return nil, err
	}
	x, ok := s.vhost.Table().Exchange(name)
	if !ok {
		return nil, s.fail(ErrExchangeNotFound, "exchange", name)
	}
	return &Schedule{s, s.b.relayQueue(x)}, nil
}

// QueueID tells the queue of the schedule from others, also of the same name later. It is 0 for an
// exchange that holds no messages.
func (sc *Schedule) QueueID() uint64 {
	if sc.q == nil {
		return 0
	}
	return sc.q.ID
}

// Len is how many messages wait.
func (sc *Schedule) Len() (n int, err error) {
	if sc.q == nil {
		return 0, nil
	}
	err = sc.q.shard.call(func() { n = sc.q.state.Scheduled() - sc.q.hidden() })
	return n, err
}

// List returns up to n waiting messages in the order in which they were
// published, per priority, from a place on, and the place of the next page: 0
// when there is none. The zero place is the beginning. What is published or
// becomes due meanwhile may be in the list or not.
func (sc *Schedule) List(from queue.Handle, n int) (page []Scheduled, next queue.Handle, err error) {
	next, err = sc.scan(from, func(sh *shard, it *queue.Item, env message.Envelope) bool {
		page = append(page, newScheduled(it, env))
		return len(page) < n
	})
	return page, next, err
}

func newScheduled(it *queue.Item, env message.Envelope) Scheduled {
	exchange, key, props, _ := env.Split()
	peek, _ := message.PeekProperties(props) // checked when it was read
	return Scheduled{it.Handle, string(peek.MessageID), it.Due, int(it.Size), string(exchange), string(key)}
}

// Cancel removes the waiting messages with a message id for good, and returns
// how many there were when that is durable. Errors: ErrLogFailed, ErrClosed.
func (sc *Schedule) Cancel(messageID string) (n int, err error) {
	return sc.change(messageID, sc.cancel)
}

// CancelAt is Cancel for the message at a place, which may have no message id. n is 1, or 0 when no
// message waits there.
func (sc *Schedule) CancelAt(h queue.Handle) (n int, err error) { return sc.changeAt(h, sc.cancel) }

func (sc *Schedule) cancel(sh *shard, h queue.Handle) { sh.settle(sc.q, h, 1) }

// Reschedule gives the waiting messages with a message id another time, unix
// ms, and returns how many there were when that is durable. A time that is over
// makes them due. Errors: ErrLogFailed, ErrClosed.
func (sc *Schedule) Reschedule(messageID string, due int64) (n int, err error) {
	return sc.change(messageID, sc.reschedule(due))
}

// RescheduleAt is Reschedule for the message at a place, as CancelAt is for Cancel.
func (sc *Schedule) RescheduleAt(h queue.Handle, due int64) (n int, err error) {
	return sc.changeAt(h, sc.reschedule(due))
}

func (sc *Schedule) reschedule(due int64) func(*shard, queue.Handle) {
	return func(sh *shard, h queue.Handle) { sh.reschedule(sc.q, h, max(due, 1)) }
}

func (sh *shard) reschedule(q *Queue, h queue.Handle, due int64) {
	sh.facts.Reschedule(q.content, h, due)
}

// change does something to each waiting message with an id.
func (sc *Schedule) change(messageID string, do func(*shard, queue.Handle)) (n int, err error) {
	done := make(chan error, 1)
	for from, more := queue.Handle(0), true; more; {
		found := 0
		var hits []queue.Handle
		from, err = sc.step(from, func(sh *shard, it *queue.Item, env message.Envelope) bool {
			if newScheduled(it, env).MessageID == messageID {
				hits = append(hits, it.Handle)
			}
			return true
		}, func(sh *shard) {
			for _, h := range hits {
				do(sh, h)
			}
			if found = len(hits); found > 0 {
				sc.tell(sh, done)
			}
		})
		if err == nil && found > 0 {
			err = <-done
		}
		if err != nil {
			return n, err
		}
		n += found
		more = from != 0
	}
	return n, nil
}

// changeAt does something to the waiting message at a place.
func (sc *Schedule) changeAt(h queue.Handle, do func(*shard, queue.Handle)) (n int, err error) {
	if sc.q == nil {
		return 0, nil
	}
	done := make(chan error, 1)
	sh := sc.q.shard
	err = sh.call(func() {
		if it, status := sc.q.state.Get(h); status == queue.Scheduled && it.Due != HeldBack {
			n = 1
			do(sh, h)
			sc.tell(sh, done)
		}
	})
	if err == nil && n > 0 {
		err = <-done
	}
	return n, err
}

// tell has done hear when what was changed is durable.
func (sc *Schedule) tell(sh *shard, done chan<- error) {
	sh.entry.waiters = append(sh.entry.waiters, func(err error) { done <- err })
	sh.mark(sc.q)
}

// scan shows the waiting messages from a place on until fn returns false, and
// returns the place behind the last one, 0 at the end.
func (sc *Schedule) scan(from queue.Handle, fn func(*shard, *queue.Item, message.Envelope) bool) (next queue.Handle, err error) {
	for {
		stopped := false
		next, err = sc.step(from, func(sh *shard, it *queue.Item, env message.Envelope) bool {
			stopped = !fn(sh, it, env)
			return !stopped
		}, func(*shard) {})
		if stopped || next == 0 || err != nil {
			return next, err
		}
		from = next
	}
}

// step looks at a few messages from a place on, on the shard's goroutine: it
// shows those that wait to fn, until that returns false, and then runs end.
func (sc *Schedule) step(from queue.Handle, fn func(*shard, *queue.Item, message.Envelope) bool, end func(*shard)) (queue.Handle, error) {
	if sc.q == nil {
		return 0, nil
	}
	sh := sc.q.shard
	var next queue.Handle
	err := sh.call(func() { next = sh.scanScheduled(sc.q, from, fn); end(sh) })
	return next, err
}

func (sh *shard) scanScheduled(q *Queue, from queue.Handle, fn func(*shard, *queue.Item, message.Envelope) bool) (next queue.Handle) {
	var waiting []queue.Item
	looked := 0
	q.state.Each(from, func(it *queue.Item, status queue.Status) bool {
		if looked++; looked > scanStep {
			next = it.Handle
			return false
		}
		if status == queue.Scheduled && it.Due != HeldBack {
			waiting = append(waiting, *it)
		}
		return true
	})
	var reader *store.Reader // in order and ahead, but not the queue's own, which stands elsewhere
	for i := range waiting {
		it := &waiting[i]
		env := it.Env
		if env == nil && it.Flags&queue.Scratch == 0 && reader == nil {
			reader = sh.b.store.NewReader(sh.id)
		}
		if env == nil {
			var err error
			if env, err = sh.loadBy(reader, q, it); err != nil {
				sh.setAside(q, it, err)
				continue
			}
		}
		if !fn(sh, it, env) {
			if i+1 < len(waiting) {
				return waiting[i+1].Handle
			}
			return next
		}
	}
	return next
}

// loadBy is load with a reader of the caller's.
func (sh *shard) loadBy(reader *store.Reader, q *Queue, it *queue.Item) (message.Envelope, error) {
	if it.Flags&queue.Scratch != 0 {
		return sh.load(q, it)
	}
	fact, err := reader.Read(it.Index, it.Sub)
	if err != nil {
		return nil, err
	}
	return bodyOf(fact, &sh.scratch)
}
