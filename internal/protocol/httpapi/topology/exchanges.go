package topology

import (
	"context"
	"errors"
	"net/http"

	"fiveways.dev/fiveways/internal/amqperr"
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/routing"
	"fiveways.dev/fiveways/internal/declareargs"
	"fiveways.dev/fiveways/internal/monitor"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

func (t *topology) exchangePaths() {
	t.Get(rest.Management, "/api/exchanges", t.listExchanges)
	t.Get(rest.Management, "/api/exchanges/{vhost}", t.listExchanges)
	t.Get(rest.Management, "/api/exchanges/{vhost}/{exchange}", t.showExchange)
	t.Handle(rest.Management, "PUT /api/exchanges/{vhost}/{exchange}", t.declareExchange)
	t.Delete(rest.Management, "/api/exchanges/{vhost}/{exchange}", t.deleteExchange)
	t.Get(rest.Management, "/api/exchanges/{vhost}/{exchange}/bindings/source", func(r *http.Request) (any, error) {
		return t.bindings(r, func(s *broker.Session) ([]catalog.BindSpec, error) { return from(s, exchangeName(r, "exchange")) })
	})
	t.Get(rest.Management, "/api/exchanges/{vhost}/{exchange}/bindings/destination", func(r *http.Request) (any, error) {
		return t.bindings(r, func(s *broker.Session) ([]catalog.BindSpec, error) {
			name := exchangeName(r, "exchange")
			if !s.HasExchange(name) {
				return nil, rest.ErrNotThere
			}
			return s.BindingsTo(name, true), nil
		})
	})
}

// exchangeName returns the name of the exchange in a path.
func exchangeName(r *http.Request, wildcard string) string {
	if name := rest.Name(r, wildcard); name != rest.DefaultExchange {
		return name
	}
	return ""
}

// exchange is an exchange as the API shows it. Fields are RabbitMQ's.
type exchange struct {
	Arguments  rest.Table      `json:"arguments"`
	AutoDelete bool            `json:"auto_delete"`
	Durable    bool            `json:"durable"`
	Internal   bool            `json:"internal"`
	Stats      monitor.Figures `json:"message_stats,omitempty"`
	Name       string          `json:"name"`
	Policy     *string         `json:"policy,omitempty"`
	Type       string          `json:"type"`
	VHost      string          `json:"vhost"`
}

type exchangeDetails struct {
	exchange
	Incoming []any `json:"incoming"`
	Outgoing []any `json:"outgoing"`
}

func (t *topology) exchange(st *inspect.ExchangeStatus, vhost string, r *http.Request) exchange {
	return exchange{
		Arguments: rest.Table(st.Args), AutoDelete: st.AutoDelete, Durable: st.Durable, Internal: st.Internal, Name: st.Name, Policy: named(st.Policy), Type: st.Type, VHost: vhost,
		Stats: t.monitor.ExchangeStats(vhost, st.Name, st.Traffic.In, st.Traffic.Out, monitor.ParseQuery(r.URL.Query())),
	}
}

func (t *topology) listExchanges(r *http.Request) (any, error) {
	type item struct {
		vhost string
		inspect.ExchangeStatus
	}
	var items []item
	for _, vhost := range t.visible(r) {
		err := t.look(vhost, func(s *broker.Session) error {
			for _, x := range inspect.Exchanges(s) {
				items = append(items, item{vhost, x})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return rest.Listing(r, items, rest.Collection[item, exchange]{
		Name: func(i item) string { return i.Name },
		Show: func(some []item) ([]exchange, error) {
			return rest.List(some, func(i item) exchange { return t.exchange(&i.ExchangeStatus, i.vhost, r) }), nil
		},
	})
}

func (t *topology) showExchange(r *http.Request) (out any, err error) {
	err = t.look(rest.Name(r, "vhost"), func(s *broker.Session) error {
		st, err := inspect.Exchange(s, exchangeName(r, "exchange"))
		if errors.Is(err, failure.ErrExchangeNotFound) {
			return rest.ErrNotThere
		}
		out = exchangeDetails{t.exchange(&st, s.VHost(), r), []any{}, []any{}}
		return err
	})
	return out, err
}

// exchangeChange is an exchange to be declared.
type exchangeChange struct {
	Type       string      `json:"type"`
	Durable    rest.Switch `json:"durable"`
	AutoDelete rest.Switch `json:"auto_delete"`
	Internal   rest.Switch `json:"internal"`
	Arguments  rest.Table  `json:"arguments"`
}

func (t *topology) declareExchange(r *http.Request) (rest.Answer, error) {
	in := exchangeChange{Type: routing.TypeDirect}
	if err := rest.DecodeOptional(r, &in); err != nil {
		return rest.Answer{}, err
	}
	return t.put(r, func(s *broker.Session) (there bool, err error) {
		name := exchangeName(r, "exchange")
		there = s.HasExchange(name)
		return there, declareExchange(s, catalog.ExchangeSpec{
			Name: name, Type: in.Type, Durable: bool(in.Durable), AutoDelete: bool(in.AutoDelete), Internal: bool(in.Internal),
			Args: message.Table(in.Arguments),
		})
	})
}

// declareExchange declares an exchange as an AMQP client does.
func declareExchange(s *broker.Session, spec catalog.ExchangeSpec) error {
	switch {
	case !routing.ValidType(spec.Type): // RabbitMQ checks the type before anything else
		return &failure.Error{Err: failure.ErrUnknownExchangeType, Kind: "exchange", Name: spec.Name, Detail: spec.Type}
	case spec.Name == "":
		return failure.ErrDefaultExchange
	}
	if err := s.MayConfigure("exchange", spec.Name); err != nil {
		return err
	}
	var refused *declareargs.Refusal
	if spec.Alternate, spec.Buffer, refused = declareargs.Exchange(spec.Args); refused != nil {
		return rest.BadRequest(refused.Text(amqperr.Resource("exchange", spec.Name, s.VHost())))
	}
	return s.DeclareExchange(spec)
}

func (t *topology) deleteExchange(r *http.Request) error {
	unused, err := rest.Truth(r, "if-unused")
	if err != nil {
		return err
	}
	return rest.ByChannel(t.In(r, rest.Name(r, "vhost"), func(_ context.Context, s *broker.Session) error {
		name := exchangeName(r, "exchange")
		if !s.HasExchange(name) {
			return notThere(s)
		}
		return s.DeleteExchange(name, unused)
	}))
}
