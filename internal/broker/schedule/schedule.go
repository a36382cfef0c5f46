package schedule

import (
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// Message is a message that is not due yet.
type Message struct {
	Handle    queue.Handle // its position in the schedule
	MessageID string       // its message-id, or ""
	Due       int64        // unix ms
	Size      int          // of the body, bytes
	Exchange  string       // it was published to
	Key       string
}

func newMessage(it *queue.Item, env message.Envelope) Message {
	exchange, key, props, _ := env.Split()
	peek, _ := message.PeekProperties(props) // checked when it was read
	return Message{it.Handle, string(peek.MessageID), it.Due, int(it.Size), string(exchange), string(key)}
}

// Schedule is the messages of a queue, or of an exchange that holds messages, that are not due yet.
type Schedule struct {
	b *broker.Broker
	q *shard.Queue // nil: an exchange that holds none
}

// OfQueue returns the schedule of a queue. Errors: ErrAccessRefused, ErrQueueNotFound,
// ErrExclusive.
func OfQueue(s *broker.Session, name string) (*Schedule, error) {
	f := s.Finder()
	q, err := f.Queue(broker.Reading, name, false)
	if err != nil {
		return nil, err
	}
	return &Schedule{f.Broker(), q}, nil
}

// OfExchange returns the schedule of an exchange, which is empty if the exchange holds no messages.
// Errors: ErrAccessRefused, ErrExchangeNotFound.
func OfExchange(s *broker.Session, name string) (*Schedule, error) {
	if err := s.May(broker.Reading, "exchange", name); err != nil {
		return nil, err
	}
	f := s.Finder()
	x, ok := f.Table().Exchange(name)
	if !ok {
		return nil, s.Fail(failure.ErrExchangeNotFound, "exchange", name)
	}
	return &Schedule{f.Broker(), f.Buffer(x)}, nil
}

// QueueID returns the ID of the schedule's queue, which distinguishes it from later queues with its
// name. It is 0 for an exchange that holds no messages.
func (sc *Schedule) QueueID() uint64 {
	if sc.q == nil {
		return 0
	}
	return sc.q.ID
}

// at runs fn at the shard of the queue, if there is one.
func (sc *Schedule) at(fn func(shard.Context)) error {
	if sc.q == nil {
		return nil
	}
	return sc.b.At(sc.q, fn)
}

// Len returns how many messages wait. Errors: ErrClosed.
func (sc *Schedule) Len() (n int, err error) {
	err = sc.at(func(at shard.Context) { n = at.Deliveries().Scheduled() - at.Hidden() })
	return n, err
}

// List returns up to n waiting messages in the order in which they were published, per priority,
// from a position on, and the position of the next page: 0 if there is none. The zero position is
// the beginning. Messages that are published or become due meanwhile may be missing. Errors:
// ErrClosed.
func (sc *Schedule) List(from queue.Handle, n int) (page []Message, next queue.Handle, err error) {
	for {
		err = sc.at(func(at shard.Context) {
			next = scan(at, from, func(m Message) bool {
				page = append(page, m)
				return len(page) < n
			})
		})
		if err != nil || next == 0 || len(page) >= n {
			return page, next, err
		}
		from, next = next, 0
	}
}

// Cancel removes the waiting messages with a message-id for good, and returns their number when
// that is durable. Errors: ErrLogFailed, ErrClosed.
func (sc *Schedule) Cancel(messageID string) (n int, err error) {
	return sc.change(messageID, cancel)
}

// CancelAt is Cancel for the message at a position, which need not have a message-id. n is 1, or 0
// if no message waits there.
func (sc *Schedule) CancelAt(h queue.Handle) (n int, err error) { return sc.changeAt(h, cancel) }

func cancel(at shard.Context, h queue.Handle) { at.Settle(h, 1) }

// Reschedule gives the waiting messages with a message-id another time, unix ms, and returns their
// number when that is durable. With a time in the past they are due. Errors: ErrLogFailed,
// ErrClosed.
func (sc *Schedule) Reschedule(messageID string, due int64) (n int, err error) {
	return sc.change(messageID, reschedule(due))
}

// RescheduleAt is Reschedule for the message at a position, as CancelAt is for Cancel.
func (sc *Schedule) RescheduleAt(h queue.Handle, due int64) (n int, err error) {
	return sc.changeAt(h, reschedule(due))
}

func reschedule(due int64) func(shard.Context, queue.Handle) {
	return func(at shard.Context, h queue.Handle) { at.Facts().Reschedule(at.Content(), h, max(due, 1)) }
}

// change changes each waiting message with an id.
func (sc *Schedule) change(messageID string, do func(shard.Context, queue.Handle)) (n int, err error) {
	done := make(chan error, 1)
	for from, more := queue.Handle(0), true; more; more = from != 0 {
		var hits []queue.Handle
		err = sc.at(func(at shard.Context) {
			from = scan(at, from, func(m Message) bool {
				if m.MessageID == messageID {
					hits = append(hits, m.Handle)
				}
				return true
			})
			for _, h := range hits {
				do(at, h)
			}
			if len(hits) > 0 {
				changed(at, done)
			}
		})
		if err == nil && len(hits) > 0 {
			err = <-done
		}
		if err != nil {
			return n, err
		}
		n += len(hits)
	}
	return n, nil
}

// changeAt changes the waiting message at a position.
func (sc *Schedule) changeAt(h queue.Handle, do func(shard.Context, queue.Handle)) (n int, err error) {
	done := make(chan error, 1)
	err = sc.at(func(at shard.Context) {
		if it, status := at.Deliveries().Get(h); status == queue.Scheduled && it.Due != shard.HeldBack {
			n = 1
			do(at, h)
			changed(at, done)
		}
	})
	if err == nil && n > 0 {
		err = <-done
	}
	return n, err
}

// changed sends to done when the changes are durable.
func changed(at shard.Context, done chan<- error) {
	at.WhenDurable(func(err error) { done <- err })
	at.Changed()
}

// scanStep is how many messages are visited before the shard may do something else.
const scanStep = 256

// scan visits a step of messages from a position on and calls fn for those that wait, until fn
// returns false. It returns the position to continue at, 0 at the end.
func scan(at shard.Context, from queue.Handle, fn func(Message) bool) (next queue.Handle) {
	var waiting []queue.Item
	looked := 0
	at.Deliveries().Each(from, func(it *queue.Item, status queue.Status) bool {
		if looked++; looked > scanStep {
			next = it.Handle
			return false
		}
		if status == queue.Scheduled && it.Due != shard.HeldBack {
			waiting = append(waiting, *it)
		}
		return true
	})
	reader := at.Bodies().NewReader()
	for i := range waiting {
		it := &waiting[i]
		env, err := at.Bodies().Load(reader, it)
		if err != nil {
			at.Unreadable(it, err)
			continue
		}
		if !fn(newMessage(it, env)) {
			if i+1 < len(waiting) {
				return waiting[i+1].Handle
			}
			return next
		}
	}
	return next
}
