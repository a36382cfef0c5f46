package broker

import (
	"cmp"
	"slices"

	"fiveways/internal/core/message"
)

// ConsumerStatus is a consumer of a queue at one moment.
type ConsumerStatus struct {
	VHost, Queue string
	Tag          string
	User         string // of its session
	Session      string // name of its session
	Channel      int    // of the connection, 0: its protocol has none
	NoAck        bool
	Exclusive    bool
	Prefetch     int // most unsettled deliveries at a time, 0: no limit
	Priority     int
	Args         message.Table
	Unacked      int  // deliveries that are not settled
	Single       bool // one consumer of the queue alone gets messages
	Active       bool // it gets messages; else another one does, whose place it waits for
}

// ListConsumers returns the consumers of the session's virtual host by queue and age. Errors:
// ErrClosed.
func (s *Session) ListConsumers() ([]ConsumerStatus, error) {
	var queues []*Queue
	for _, id := range s.vhost.Table().Queues() {
		if q, ok := s.b.queueByID(uint64(id)); ok {
			queues = append(queues, q)
		}
	}
	return consumersOf(queues)
}

// QueueConsumers returns the consumers of one queue. Errors: ErrQueueNotFound, ErrClosed.
func (s *Session) QueueConsumers(name string) ([]ConsumerStatus, error) {
	q, ok := s.vhost.queue(name)
	if !ok {
		return nil, s.noQueue(name)
	}
	return consumersOf([]*Queue{q})
}

func consumersOf(queues []*Queue) (all []ConsumerStatus, err error) {
	perShard := map[*shard][]*Queue{}
	for _, q := range queues {
		perShard[q.shard] = append(perShard[q.shard], q)
	}
	for sh, queues := range perShard {
		err := sh.call(func() {
			for _, q := range queues {
				all = q.appendConsumers(all)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(all, func(a, b ConsumerStatus) int { return cmp.Compare(a.Queue, b.Queue) })
	return all, nil
}

// appendConsumers runs on the shard's goroutine.
func (q *Queue) appendConsumers(dst []ConsumerStatus) []ConsumerStatus {
	active, single := q.consumers.Active()
	for _, d := range q.consumers.All() {
		c := consumerOf(d)
		dst = append(dst, ConsumerStatus{
			VHost: q.vhost.Name, Queue: q.Name, Tag: c.Tag, User: c.session.User, Session: c.session.Name, Channel: c.channel, NoAck: c.NoAck,
			Exclusive: c.exclusive, Prefetch: d.Prefetch, Priority: c.Priority, Args: c.args, Unacked: d.Unacked(), Single: single, Active: !single || active == d,
		})
	}
	return dst
}

// exclusive reports whether the queue has a consumer that wants no others.
func (q *Queue) exclusive() bool {
	return q.consumers.Len() > 0 && consumerOf(q.consumers.All()[0]).exclusive
}

// activeTag is the tag of the consumer that alone gets messages, "" where all do.
func (q *Queue) activeTag() string {
	if c, _ := q.consumers.Active(); c != nil {
		return consumerOf(c).Tag
	}
	return ""
}
