package inspect

import (
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/routing"
)

// ExchangeStatus is an exchange and its traffic.
type ExchangeStatus struct {
	Name                          string
	Type                          string
	Durable, AutoDelete, Internal bool
	Args                          message.Table
	Traffic                       ExchangeSample
	Policy                        string // that applies to it, "" none
}

// Exchange returns one exchange. Errors: ErrExchangeNotFound.
func Exchange(s *broker.Session, name string) (st ExchangeStatus, err error) {
	x, ok := s.Finder().Table().Exchange(name)
	if !ok {
		return st, s.Fail(failure.ErrExchangeNotFound, "exchange", name)
	}
	return exchangeStatus(s, x), nil
}

// Exchanges returns the exchanges of the session's virtual host by name, the default exchange
// first.
func Exchanges(s *broker.Session) (all []ExchangeStatus) {
	for x := range s.Finder().Table().Exchanges() {
		all = append(all, exchangeStatus(s, x))
	}
	return all
}

func exchangeStatus(s *broker.Session, x *routing.Exchange) ExchangeStatus {
	return ExchangeStatus{
		Name: x.Spec.Name, Type: x.Spec.Type, Durable: x.Spec.Durable, AutoDelete: x.Spec.AutoDelete, Internal: x.Spec.Internal,
		Args: x.Spec.Args, Traffic: sampleOf(x), Policy: s.ExchangePolicy(x.Spec.Name).Policy,
	}
}
