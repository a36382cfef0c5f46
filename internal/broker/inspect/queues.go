package inspect

import (
	"cmp"
	"slices"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// QueueStatus is the state of a queue at one moment.
type QueueStatus struct {
	ID              uint64 // of this queue and no other
	Name            string
	Durable         bool   // it survives a restart; exclusive queues never do
	Declared        bool   // the durable flag as the client gave it
	AutoDelete      bool   // deleted with its last consumer
	Exclusive       bool   // it belongs to one session
	Own             bool   // to the session that asks
	Owner           string // name of the session, "" if the queue is not exclusive
	Args            message.Table
	Stream          bool // its messages stay when they are read
	catalog.Applied      // the policies that apply to it
	Jobs            bool // it is used for jobs and keeps their ids and leases

	Ready        int
	Unacked      int
	Scheduled    int   // their time has not come
	Blocked      int   // they wait for other messages
	Bytes        int64 // of the bodies of the ready ones
	UnackedBytes int64
	Memory       int64 // bytes that its messages take in memory
	Counts       queue.Counts

	Consumers         int
	ExclusiveConsumer bool   // it has an exclusive consumer
	ActiveConsumer    string // tag of the consumer that gets all messages, if only one does
	HeadTimestamp     int64  // the property timestamp of the next message, unix seconds; 0: it has none, or is only on disk
	Active            int64  // unix ms of its last use, or of when it was declared or read from the log
}

// Queues returns the queues of the session's virtual host by name. Errors: ErrClosed.
func Queues(s *broker.Session) ([]QueueStatus, error) {
	return statuses(s, slices.Collect(s.Finder().Queues()))
}

// ReadableQueues is Queues without queues that the session may not read, and without other
// sessions' exclusive queues. Errors: ErrClosed.
func ReadableQueues(s *broker.Session) ([]QueueStatus, error) {
	return statuses(s, readable(s, slices.Collect(s.Finder().Queues())))
}

// readable returns the queues that the session may read and that are not exclusive to others.
func readable(s *broker.Session, queues []*shard.Queue) []*shard.Queue {
	return slices.DeleteFunc(queues, func(q *shard.Queue) bool {
		return q.Owner != nil && q.Owner != any(s) || s.May(broker.Reading, "queue", q.Name) != nil
	})
}

// statuses returns queues by name.
func statuses(s *broker.Session, queues []*shard.Queue) ([]QueueStatus, error) {
	all := make([]QueueStatus, 0, len(queues))
	err := s.Finder().Broker().AtEach(queues, func(_ int, at shard.Context) { all = append(all, statusOf(at, s)) })
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b QueueStatus) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// QueuesByName returns queues in the order of the names, without those that do not exist. Errors:
// ErrClosed.
func QueuesByName(s *broker.Session, names []string) ([]QueueStatus, error) {
	f := s.Finder()
	queues := make([]*shard.Queue, 0, len(names))
	for _, name := range names {
		if q, ok := f.Lookup(name); ok {
			queues = append(queues, q)
		}
	}
	all := make([]QueueStatus, len(queues))
	err := f.Broker().AtEach(queues, func(i int, at shard.Context) { all[i] = statusOf(at, s) })
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(st QueueStatus) bool { return st.Name == "" }), nil
}

// Queue returns one queue. Errors: ErrQueueNotFound, ErrClosed.
func Queue(s *broker.Session, name string) (st QueueStatus, err error) {
	f := s.Finder()
	q, ok := f.Lookup(name)
	if !ok {
		return st, cmp.Or(s.AwaitRemovals(), s.NoQueue(name))
	}
	err = f.Broker().At(q, func(at shard.Context) { st = statusOf(at, s) })
	return st, err
}

func statusOf(at shard.Context, s *broker.Session) QueueStatus {
	q, st := at.Queue(), at.Deliveries()
	return QueueStatus{
		ID: q.ID, Name: q.Name, Durable: q.Durable, Declared: q.DeclaredDurable, AutoDelete: q.AutoDelete,
		Exclusive: q.Owner != nil, Own: q.Owner == any(s), Owner: ownerOf(q), Args: q.Args,
		Stream: at.Content().Stream != nil, Jobs: at.Content().UsedForJobs(), Applied: q.Ruling().Applied,
		Ready: st.Ready(), Unacked: st.Unacked(), Scheduled: st.Scheduled() - at.Hidden(), Blocked: st.Blocked(),
		Bytes: st.ReadyBytes(), UnackedBytes: st.UnackedBytes(), Memory: at.Memory(), Counts: *at.Counts(),
		Consumers: at.Consumers().Len(), ExclusiveConsumer: at.HasExclusiveConsumer(), ActiveConsumer: activeTag(at),
		HeadTimestamp: headTimestamp(at), Active: at.Active(),
	}
}

// ownerOf returns the name of the session that owns the queue, "" if the queue is not exclusive.
func ownerOf(q *shard.Queue) string {
	if s, ok := q.Owner.(*broker.Session); ok {
		return s.Name
	}
	return ""
}

// activeTag returns the tag of the only consumer that gets messages, "" if all do.
func activeTag(at shard.Context) string {
	if c, _ := at.Consumers().Active(); c != nil {
		return shard.ConsumerOf(c).Tag
	}
	return ""
}

// headTimestamp returns the property timestamp of the next message, unix seconds, if that is in
// memory.
func headTimestamp(at shard.Context) int64 {
	st := at.Deliveries()
	if st.Ready() == 0 {
		return 0
	}
	var fronts [4]queue.Handle
	heads := st.Fronts(fronts[:0])
	if len(heads) == 0 {
		return 0
	}
	it, status := st.Get(heads[0])
	if status == queue.Gone || it.Env == nil {
		return 0
	}
	peek, err := message.PeekProperties(it.Env.Properties())
	if err != nil || !peek.HasTimestamp {
		return 0
	}
	return int64(peek.Timestamp)
}
