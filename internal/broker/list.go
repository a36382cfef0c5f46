package broker

import (
	"cmp"
	"slices"

	"fiveways/internal/core/message"
)

// QueueStatus is a queue and what it holds at one moment.
type QueueStatus struct {
	ID         uint64 // of this queue and no other
	Name       string
	Durable    bool   // it is there after a restart: exclusive ones never are
	Declared   bool   // the durable flag as the client gave it
	AutoDelete bool   // it goes with its last consumer
	Exclusive  bool   // it belongs to a session
	Own        bool   // to this one
	Owner      string // name of the session, "" when it is not exclusive
	Args       message.Table
	Stream     bool // its messages stay when they are read
	Applied         // the policies that count for it
	Jobs       bool // it is used for jobs: it knows them by their ids, and who has leased them

	Ready        int
	Unacked      int
	Scheduled    int   // their time has not come
	Blocked      int   // they wait for others to be gone
	Bytes        int64 // of the bodies of the ready ones
	UnackedBytes int64
	Memory       int64 // bytes that its messages take in memory
	Counts       Counts

	Consumers         int
	ExclusiveConsumer bool   // it has one that wants no others
	ActiveConsumer    string // tag of the consumer that alone gets messages, where only one does
	HeadTimestamp     int64  // the property timestamp of the next message, unix seconds; 0: it has none, or is only on disk
	Active            int64  // unix ms when something was last done with it; 0: nothing was since the start
}

// ListQueues returns the queues of the session's virtual host by name, each with what it held when
// it was come to. Errors: ErrClosed.
func (s *Session) ListQueues() ([]QueueStatus, error) {
	return s.listQueues(func(*Queue) bool { return true })
}

// ReadableQueues is ListQueues without the queues that the session may not read, and without the
// exclusive ones of others. Errors: ErrClosed.
func (s *Session) ReadableQueues() ([]QueueStatus, error) {
	return s.listQueues(func(q *Queue) bool { return (q.owner == nil || q.owner == s) && s.may(toRead, "queue", q.Name) == nil })
}

func (s *Session) listQueues(wanted func(*Queue) bool) (all []QueueStatus, err error) {
	byShard := map[*shard][]*Queue{}
	for _, id := range s.vhost.Table().Queues() {
		if q, ok := s.b.queueByID(uint64(id)); ok && wanted(q) {
			byShard[q.shard] = append(byShard[q.shard], q)
		}
	}
	for sh, queues := range byShard {
		err := sh.call(func() {
			for _, q := range queues {
				if !q.gone {
					all = append(all, q.status(s))
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b QueueStatus) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// QueueStatus returns one queue and what it holds. Errors: ErrQueueNotFound, ErrClosed.
func (s *Session) QueueStatus(name string) (st QueueStatus, err error) {
	q, ok := s.vhost.queue(name)
	if !ok {
		return st, s.noQueue(name)
	}
	err = q.shard.call(func() { st = q.status(s) })
	return st, err
}

// status runs on the shard's goroutine.
func (q *Queue) status(s *Session) QueueStatus {
	return QueueStatus{
		ID: q.ID, Name: q.Name, Durable: q.Durable, Declared: q.DeclaredDurable, AutoDelete: q.AutoDelete, Exclusive: q.owner != nil, Own: q.owner == s,
		Owner: q.ownerName(), Args: q.Args, Stream: q.content.Stream != nil, Jobs: q.content.UsedForJobs(), Applied: q.Ruling().Applied,
		Ready: q.state.Ready(), Unacked: q.state.Unacked(), Scheduled: q.state.Scheduled() - q.hidden(), Blocked: q.state.Blocked(),
		Bytes: q.state.ReadyBytes(), UnackedBytes: q.state.UnackedBytes(), Memory: q.hot, Counts: q.counts,
		Consumers: q.consumers.Len(), ExclusiveConsumer: q.exclusive(), ActiveConsumer: q.activeTag(),
		HeadTimestamp: q.headTimestamp(), Active: q.active,
	}
}

func (q *Queue) ownerName() string {
	if q.owner == nil {
		return ""
	}
	return q.owner.Name
}
