package broker

import (
	"fiveways/internal/core/message"
	"fiveways/internal/core/routing"
)

// QueueStatuses returns queues and what they hold, in the order of the names; one that is not there
// is left out. Errors: ErrClosed.
func (s *Session) QueueStatuses(names []string) ([]QueueStatus, error) {
	type place struct {
		q  *Queue
		at int
	}
	all := make([]QueueStatus, len(names))
	perShard := map[*shard][]place{}
	for i, name := range names {
		if q, ok := s.vhost.queue(name); ok {
			perShard[q.shard] = append(perShard[q.shard], place{q, i})
		}
	}
	for sh, places := range perShard {
		for len(places) > 0 {
			step := places[:min(len(places), sampleStep)]
			places = places[len(step):]
			err := sh.call(func() {
				for _, p := range step {
					if !p.q.gone {
						all[p.at] = p.q.status(s)
					}
				}
			})
			if err != nil {
				return nil, err
			}
		}
	}
	there := all[:0]
	for i := range all {
		if all[i].Name != "" {
			there = append(there, all[i])
		}
	}
	return there, nil
}

// ExchangeStatus is an exchange and what came to it.
type ExchangeStatus struct {
	Name                          string
	Type                          string
	Durable, AutoDelete, Internal bool
	Args                          message.Table
	Traffic                       ExchangeSample
	Policy                        string // that counts for it, "" none
}

// ExchangeStatus returns one exchange. Errors: ErrExchangeNotFound.
func (s *Session) ExchangeStatus(name string) (st ExchangeStatus, err error) {
	x, ok := s.vhost.Table().Exchange(name)
	if !ok {
		return st, s.fail(ErrExchangeNotFound, "exchange", name)
	}
	return s.statusOf(x), nil
}

// ListExchanges returns the exchanges of the session's virtual host by name, the default exchange
// first.
func (s *Session) ListExchanges() (all []ExchangeStatus) {
	for x := range s.vhost.Table().Exchanges() {
		all = append(all, s.statusOf(x))
	}
	return all
}

func (s *Session) statusOf(x *routing.Exchange) ExchangeStatus {
	t := x.Traffic()
	return ExchangeStatus{
		Name: x.Spec.Name, Type: x.Spec.Type, Durable: x.Spec.Durable, AutoDelete: x.Spec.AutoDelete, Internal: x.Spec.Internal, Args: x.Spec.Args,
		Traffic: ExchangeSample{x.Spec.Name, x.Spec.Type, x.BindingCount(), t.In.Load(), t.Out.Load(), t.Unroutable.Load()},
		Policy:  s.ExchangePolicy(x.Spec.Name).Policy,
	}
}
