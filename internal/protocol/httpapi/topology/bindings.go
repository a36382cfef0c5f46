package topology

import (
	"context"
	"net/http"
	"net/url"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

func (t *topology) bindingPaths() {
	t.Get(rest.Management, "/api/bindings", t.listBindings)
	t.Get(rest.Management, "/api/bindings/{vhost}", t.listBindings)
	for _, kind := range []string{"q", "e"} {
		path := "/api/bindings/{vhost}/e/{source}/" + kind + "/{destination}"
		toExchange := kind == "e"
		t.Get(rest.Management, path, func(r *http.Request) (any, error) {
			return t.bindings(r, func(s *broker.Session) ([]catalog.BindSpec, error) { return between(s, r, toExchange), nil })
		})
		t.Open(rest.Management, "POST "+path, func(w http.ResponseWriter, r *http.Request) { t.bind(w, r, toExchange) })
		t.Get(rest.Management, path+"/{properties}", func(r *http.Request) (out any, err error) {
			err = t.look(rest.Name(r, "vhost"), func(s *broker.Session) error {
				spec, err := theBinding(s, r, toExchange)
				out = newBinding(&spec, s.VHost())
				return err
			})
			return out, err
		})
		t.Delete(rest.Management, path+"/{properties}", func(r *http.Request) error { return t.unbind(r, toExchange) })
	}
}

// binding is a binding as the API shows it. Fields and their order are RabbitMQ's.
type binding struct {
	Source          string     `json:"source"`
	VHost           string     `json:"vhost"`
	Destination     string     `json:"destination"`
	DestinationType string     `json:"destination_type"`
	RoutingKey      string     `json:"routing_key"`
	Arguments       rest.Table `json:"arguments"`
	PropertiesKey   string     `json:"properties_key"`
}

func newBinding(b *catalog.BindSpec, vhost string) binding {
	kind := "queue"
	if b.ToExchange {
		kind = "exchange"
	}
	return binding{b.Source, vhost, b.Destination, kind, b.Key, rest.Table(b.Args), propertiesKey(b)}
}

// toDefault returns the binding of a queue to the default exchange.
func toDefault(queue string) catalog.BindSpec {
	return catalog.BindSpec{Destination: queue, Key: queue}
}

// all returns all bindings of a virtual host.
func all(s *broker.Session) []catalog.BindSpec {
	return append(rest.List(s.QueueNames(), toDefault), s.ListBindings()...)
}

// from returns the bindings from an exchange.
func from(s *broker.Session, exchange string) ([]catalog.BindSpec, error) {
	switch {
	case exchange == "":
		return rest.List(s.QueueNames(), toDefault), nil
	case !s.HasExchange(exchange):
		return nil, rest.ErrNotThere
	}
	return s.BindingsFrom(exchange), nil
}

// between returns the bindings from the exchange in a path to its queue or exchange.
func between(s *broker.Session, r *http.Request, toExchange bool) (found []catalog.BindSpec) {
	source, destination := exchangeName(r, "source"), rest.Name(r, "destination")
	if source == "" && !toExchange && s.HasQueue(destination) {
		return []catalog.BindSpec{toDefault(destination)}
	}
	for _, b := range s.BindingsTo(destination, toExchange) {
		if b.Source == source {
			found = append(found, b)
		}
	}
	return found
}

// theBinding returns the binding in a path with a properties_key.
func theBinding(s *broker.Session, r *http.Request, toExchange bool) (catalog.BindSpec, error) {
	for _, b := range between(s, r, toExchange) {
		if key := propertiesKey(&b); key == rest.Name(r, "properties") || url.QueryEscape(rest.Name(r, "properties")) == key {
			return b, nil // the key as it is shown, or as sent by a client that did not escape it
		}
	}
	return catalog.BindSpec{}, notThere(s)
}

func (t *topology) listBindings(r *http.Request) (any, error) {
	var out []binding
	for _, vhost := range t.visible(r) {
		err := t.look(vhost, func(s *broker.Session) error {
			for _, b := range all(s) {
				out = append(out, newBinding(&b, vhost))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return listing(r, out)
}

// bindings lists bindings of the virtual host in a path; some selects them.
func (t *topology) bindings(r *http.Request, some func(s *broker.Session) ([]catalog.BindSpec, error)) (out any, err error) {
	err = t.look(rest.Name(r, "vhost"), func(s *broker.Session) error {
		found, err := some(s)
		if err != nil {
			return err
		}
		out, err = listing(r, rest.List(found, func(b catalog.BindSpec) binding { return newBinding(&b, s.VHost()) }))
		return err
	})
	return out, err
}

func listing(r *http.Request, bindings []binding) (any, error) {
	return rest.Listing(r, bindings, rest.Collection[binding, binding]{
		Name: func(b binding) string { return b.Source },
		Show: func(some []binding) ([]binding, error) { return some, nil },
	})
}

// bindingChange is a binding to be created.
type bindingChange struct {
	RoutingKey string     `json:"routing_key"`
	Arguments  rest.Table `json:"arguments"`
}

// bind creates a binding, and returns its path in the header Location.
func (t *topology) bind(w http.ResponseWriter, r *http.Request, toExchange bool) {
	var in bindingChange
	if err := rest.DecodeOptional(r, &in); err != nil {
		t.Refuse(w, r, err)
		return
	}
	spec := catalog.BindSpec{
		Source: exchangeName(r, "source"), Destination: rest.Name(r, "destination"), ToExchange: toExchange, Key: in.RoutingKey,
		Args: message.Table(in.Arguments),
	}
	err := t.In(r, rest.Name(r, "vhost"), func(_ context.Context, s *broker.Session) error { return s.Bind(spec) })
	if err != nil {
		t.Refuse(w, r, rest.ByChannel(err))
		return
	}
	w.Header().Set("Location", url.QueryEscape(spec.Destination)+"/"+url.QueryEscape(propertiesKey(&spec)))
	w.WriteHeader(http.StatusCreated)
}

func (t *topology) unbind(r *http.Request, toExchange bool) error {
	return rest.ByChannel(t.In(r, rest.Name(r, "vhost"), func(_ context.Context, s *broker.Session) error {
		spec, err := theBinding(s, r, toExchange)
		if err != nil {
			return err
		}
		return s.Unbind(spec)
	}))
}
