package definitions

import (
	"slices"

	"fiveways.dev/fiveways/internal/amqperr"
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/declareargs"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// part is the part of a file that belongs to one virtual host.
type part struct {
	queues                []Queue
	exchanges             []Exchange
	bindings              []Binding
	hasQueue, hasExchange map[string]bool // by name
}

// topology creates exchanges, queues and bindings, atomically for each virtual host.
func (l *loader) topology(f *File) error {
	parts := map[string]*part{}
	var order []string
	of := func(vhost string) *part {
		if parts[vhost] == nil {
			parts[vhost] = &part{hasQueue: map[string]bool{}, hasExchange: map[string]bool{}}
			order = append(order, vhost)
		}
		return parts[vhost]
	}
	for _, q := range f.Queues {
		p := of(q.VHost)
		p.queues = append(p.queues, q)
		p.hasQueue[q.Name] = true
	}
	for _, x := range f.Exchanges {
		p := of(x.VHost)
		p.exchanges = append(p.exchanges, x)
		p.hasExchange[x.Name] = true
	}
	for _, b := range f.Bindings {
		p := of(b.VHost)
		p.bindings = append(p.bindings, b)
	}
	for _, vhost := range order {
		if err := l.define(vhost, parts[vhost]); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) define(vhost string, p *part) error {
	s, err := l.b.Operate(vhost)
	if err != nil {
		return err
	}
	defer s.Close()
	var d broker.Definitions
	for i := range p.queues {
		if err := l.queue(s, &d, &p.queues[i]); err != nil {
			return err
		}
	}
	for i := range p.exchanges {
		if err := exchange(s, &d, &p.exchanges[i]); err != nil {
			return err
		}
	}
	for i := range p.bindings {
		l.binding(s, &d, p, &p.bindings[i])
	}
	return s.Define(&d)
}

// binding adds a binding unless one of its ends is missing. RabbitMQ's files contain such bindings,
// of queues that were exclusive.
func (l *loader) binding(s *broker.Session, d *broker.Definitions, p *part, b *Binding) {
	if b.Source == "" { // bindings of the default exchange are implicit
		return
	}
	toExchange := b.DestinationType == "exchange"
	there := s.HasQueue(b.Destination) || p.hasQueue[b.Destination]
	if toExchange {
		there = s.HasExchange(b.Destination) || p.hasExchange[b.Destination]
	}
	if !there || !s.HasExchange(b.Source) && !p.hasExchange[b.Source] {
		l.log.Warn("definitions: binding ignored: its source or destination does not exist", "vhost", s.VHost(), "source", b.Source, "destination", b.Destination)
		return
	}
	d.Bind(catalog.BindSpec{Source: b.Source, Destination: b.Destination, ToExchange: toExchange, Key: b.RoutingKey, Args: message.Table(b.Arguments)})
}

// queue adds a queue unless one of the same name exists.
func (l *loader) queue(s *broker.Session, d *broker.Definitions, q *Queue) error {
	if s.HasQueue(q.Name) {
		return nil
	}
	spec, err := l.queueSpec(s.VHost(), q)
	if err == nil {
		d.DeclareQueue(spec)
	}
	return err
}

// queueSpec returns the declaration of a queue, or an error if its arguments are invalid.
func (l *loader) queueSpec(vhost string, q *Queue) (catalog.QueueSpec, error) {
	spec := catalog.QueueSpec{Name: q.Name, Durable: q.Durable, AutoDelete: q.AutoDelete, Args: l.plain(vhost, q)}
	if refused := declareargs.Declare(&spec); refused != nil {
		return spec, rest.BadRequest(refused.Text(amqperr.Resource("queue", q.Name, vhost)))
	}
	return spec, nil
}

// types are the supported queue types.
var types = []any{"classic", "quorum", declareargs.StreamType}

// plain returns the arguments of a queue. A queue of an unsupported type becomes an ordinary queue.
func (l *loader) plain(vhost string, q *Queue) message.Table {
	args := message.Table(q.Arguments)
	kind, ok := args.Get("x-queue-type")
	if !ok || slices.Contains(types, kind) {
		return args
	}
	l.log.Warn("definitions: there are no queues of this type; it becomes an ordinary one", "vhost", vhost, "queue", q.Name, "type", kind)
	return slices.DeleteFunc(slices.Clone(args), func(f message.Field) bool {
		return f.Name == "x-queue-type"
	})
}

// exchange adds an exchange unless one of the same name exists.
func exchange(s *broker.Session, d *broker.Definitions, x *Exchange) error {
	if s.HasExchange(x.Name) {
		return nil
	}
	spec, err := exchangeSpec(s.VHost(), x)
	if err == nil {
		d.DeclareExchange(spec)
	}
	return err
}

// exchangeSpec returns the declaration of an exchange, or an error if its arguments are invalid.
func exchangeSpec(vhost string, x *Exchange) (catalog.ExchangeSpec, error) {
	spec := catalog.ExchangeSpec{
		Name: x.Name, Type: x.Type, Durable: x.Durable, AutoDelete: x.AutoDelete, Internal: x.Internal, Args: message.Table(x.Arguments),
	}
	var refused *declareargs.Refusal
	if spec.Alternate, spec.Buffer, refused = declareargs.Exchange(spec.Args); refused != nil {
		return spec, rest.BadRequest(refused.Text(amqperr.Resource("exchange", x.Name, vhost)))
	}
	return spec, nil
}
