package broker

import (
	"cmp"
	"slices"

	"fiveways/internal/core/message"
)

// HasQueue tells whether there is a queue of this name in the session's virtual host, its own or anybody's.
func (s *Session) HasQueue(name string) bool {
	_, ok := s.vhost.table.Load().Queue(name)
	return ok
}

// HasExchange tells whether there is an exchange of this name in the session's virtual host.
func (s *Session) HasExchange(name string) bool {
	_, ok := s.vhost.table.Load().Exchange(name)
	return ok
}

// QueueStatus is a queue and what it holds at one moment.
type QueueStatus struct {
	Name      string
	Durable   bool
	Exclusive bool // it belongs to a session
	Own       bool // to this one
	Args      message.Table
	Ready     int
	Unacked   int
	Scheduled int   // their time has not come
	Blocked   int   // they wait for others to be gone
	Bytes     int64 // of the bodies of the ready ones
	Consumers int
}

// ListQueues returns the queues of the session's virtual host by name, each with what it held when it was come to. Errors: ErrClosed.
func (s *Session) ListQueues() ([]QueueStatus, error) {
	return s.listQueues(func(*Queue) bool { return true })
}

// ReadableQueues is ListQueues without the queues that the session may not read, and without the exclusive ones of others. Errors: ErrClosed.
func (s *Session) ReadableQueues() ([]QueueStatus, error) {
	return s.listQueues(func(q *Queue) bool { return (q.owner == nil || q.owner == s) && s.may(toRead, "queue", q.Name) == nil })
}

func (s *Session) listQueues(wanted func(*Queue) bool) (all []QueueStatus, err error) {
	byShard := map[*shard][]*Queue{}
	for _, id := range s.vhost.table.Load().Queues() {
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
		Name: q.Name, Durable: q.Durable, Exclusive: q.owner != nil, Own: q.owner == s, Args: q.Args, Ready: q.state.Ready(),
		Unacked: q.state.Unacked(), Scheduled: q.state.Scheduled() - q.countBehind(), Blocked: q.state.Blocked(), Bytes: q.state.ReadyBytes(),
		Consumers: len(q.consumers.list),
	}
}

// ListBindings returns the bindings of the session's virtual host, without those that every queue has to the default exchange.
func (s *Session) ListBindings() (all []BindSpec) {
	for b := range s.vhost.table.Load().Bindings() {
		spec := BindSpec{Source: b.Source, Key: b.Key, Args: b.Args, Destination: b.ToExchange, ToExchange: b.ToExchange != ""}
		if !spec.ToExchange {
			q, ok := s.b.queueByID(uint64(b.ToQueue))
			if !ok {
				continue
			}
			spec.Destination = q.Name
		}
		all = append(all, spec)
	}
	slices.SortStableFunc(all, func(a, b BindSpec) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Destination, b.Destination), cmp.Compare(a.Key, b.Key))
	})
	return all
}
