package inspect

import (
	"cmp"
	"slices"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
)

// ConsumerStatus is the state of a consumer at one moment.
type ConsumerStatus struct {
	VHost, Queue string
	Tag          string
	User         string // of its session
	Session      string // name of its session
	Channel      int    // of the connection, 0: its protocol has no channels
	NoAck        bool
	Exclusive    bool
	Prefetch     int // most unsettled deliveries at a time, 0: no limit
	Priority     int
	Args         message.Table
	Unacked      int  // unsettled deliveries
	Single       bool // only one consumer of the queue gets messages
	Active       bool // it gets messages; otherwise it waits to take over from the one that does
}

// Consumers returns the consumers of the session's virtual host by queue and age. Errors:
// ErrClosed.
func Consumers(s *broker.Session) ([]ConsumerStatus, error) {
	f := s.Finder()
	return consumersOf(f, slices.Collect(f.Queues()))
}

// QueueConsumers returns the consumers of one queue. Errors: ErrQueueNotFound, ErrClosed.
func QueueConsumers(s *broker.Session, name string) ([]ConsumerStatus, error) {
	f := s.Finder()
	q, ok := f.Lookup(name)
	if !ok {
		return nil, s.NoQueue(name)
	}
	return consumersOf(f, []*shard.Queue{q})
}

func consumersOf(f broker.Finder, queues []*shard.Queue) (all []ConsumerStatus, err error) {
	err = f.Broker().AtEach(queues, func(_ int, at shard.Context) { all = appendConsumers(all, at) })
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b ConsumerStatus) int { return cmp.Compare(a.Queue, b.Queue) })
	return all, nil
}

func appendConsumers(dst []ConsumerStatus, at shard.Context) []ConsumerStatus {
	active, single := at.Consumers().Active()
	for _, d := range at.Consumers().All() {
		c := shard.ConsumerOf(d)
		dst = append(dst, ConsumerStatus{
			VHost: at.Queue().VHost(), Queue: at.Queue().Name, Tag: c.Tag, User: c.User(), Session: c.Session(), Channel: c.Channel, NoAck: c.NoAck,
			Exclusive: c.Exclusive, Prefetch: d.Prefetch, Priority: c.Priority, Args: c.Args, Unacked: d.Unacked(),
			Single: single, Active: !single || active == d,
		})
	}
	return dst
}
