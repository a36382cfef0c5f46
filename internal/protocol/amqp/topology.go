package amqp

import (
	"cmp"
	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/amqperr"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"strings"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/routing"
	"fiveways.dev/fiveways/internal/declareargs"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// reservedPrefix begins names that clients cannot declare.
const reservedPrefix = "amq."

// lineEnds are removed from names of queues and exchanges that are declared, bound and deleted, as
// in RabbitMQ.
var lineEnds = strings.NewReplacer("\r", "", "\n", "")

func stripLineEnds(name string) string { return lineEnds.Replace(name) }

// queueName resolves "" to the queue that the channel declared last, and refuses reserved names
// that are not queues.
func (ch *channel) queueName(name string) (string, error) {
	if name == "" {
		name = ch.lastQueue
	}
	switch {
	case name == "":
		return "", faultf(amqpcode.NotFound, "no previously declared queue")
	case ch.c.srv.isRequestQueue(name):
		return "", ch.refuseRequestQueue()
	}
	return name, nil
}

func (ch *channel) declareExchange(m *amqpwire.ExchangeDeclare) error {
	name := stripLineEnds(m.Exchange)
	switch {
	case !m.Passive && !routing.ValidType(m.Type): // RabbitMQ checks the type first
		return &failure.Error{Err: failure.ErrUnknownExchangeType, Kind: "exchange", Name: name, Detail: m.Type}
	case name == "":
		return failure.ErrDefaultExchange
	}
	spec := catalog.ExchangeSpec{
		Name: name, Type: m.Type, Passive: m.Passive, Durable: m.Durable, AutoDelete: m.AutoDelete,
		Internal: m.Internal, Args: m.Arguments,
	}
	if !m.Passive {
		if err := ch.c.session.MayConfigure("exchange", spec.Name); err != nil {
			return err
		}
		var refused *declareargs.Refusal
		if spec.Alternate, spec.Buffer, refused = declareargs.Exchange(m.Arguments); refused != nil {
			return refusedArg(refused, amqperr.Resource("exchange", spec.Name, ch.c.session.VHost()))
		}
	}
	return ch.c.session.DeclareExchange(spec)
}

// declareQueue creates or checks a queue.
func (ch *channel) declareQueue(m *amqpwire.QueueDeclare) error {
	name := stripLineEnds(m.Queue)
	if isReplyName(name) {
		return ch.declareReplyQueue(m, name)
	}
	spec := catalog.QueueSpec{
		// An exclusive queue never outlives its connection, whatever durable says.
		Name: name, Passive: m.Passive, Durable: m.Durable && !m.Exclusive, Exclusive: m.Exclusive, AutoDelete: m.AutoDelete, Args: m.Arguments,
	}
	switch {
	case m.Passive && ch.c.srv.isRequestQueue(name):
		ch.lastQueue = name
		return ch.answer(m.NoWait, &amqpwire.QueueDeclareOk{Queue: name, ConsumerCount: 1}, nil)
	case m.Passive: // "" is not resolved here, unlike in all other methods
	case name == "":
		var err error
		if spec.Name, err = ch.serverName(m.Arguments); err != nil {
			return err
		}
	case strings.HasPrefix(name, reservedPrefix):
		return reservedName(name)
	}
	if !m.Passive {
		if err := ch.c.session.MayConfigure("queue", spec.Name); err != nil {
			return err
		}
		if refused := declareargs.Declare(&spec); refused != nil {
			return cmp.Or(ch.c.session.CompareQueue(&spec), ch.mayDeadLetter(&spec), refusedArg(refused, amqperr.Resource("queue", spec.Name, ch.c.session.VHost())))
		}
	}
	info, err := ch.c.session.DeclareQueue(spec)
	if err != nil {
		return err
	}
	ch.lastQueue = info.Name
	return ch.answer(m.NoWait, &amqpwire.QueueDeclareOk{
		Queue: info.Name, MessageCount: uint32(info.Ready), ConsumerCount: uint32(info.Consumers),
	}, nil)
}

// mayDeadLetter checks the permissions for the dead-letter exchange in the arguments of a new
// queue, which RabbitMQ does before it refuses any of them.
func (ch *channel) mayDeadLetter(spec *catalog.QueueSpec) error {
	v, _ := spec.Args.Get("x-dead-letter-exchange")
	exchange, ok := v.(string)
	if !ok {
		return nil
	}
	return cmp.Or(ch.c.session.May(catalog.Read, "queue", spec.Name), ch.c.session.May(catalog.Write, "exchange", exchange))
}

// declareReplyQueue answers a declaration of a direct-reply name, which only checks whether it has
// a receiver.
func (ch *channel) declareReplyQueue(m *amqpwire.QueueDeclare, name string) error {
	if !ch.hasReplyName(name) {
		return faultf(amqpcode.NotFound, "no %s", amqperr.Resource("queue", name, ch.c.session.VHost()))
	}
	ch.lastQueue = name
	return ch.answer(m.NoWait, &amqpwire.QueueDeclareOk{Queue: name, ConsumerCount: 1}, nil)
}

// queueBinding resolves the names of a binding. Without a queue and a key, the
// queue's name is the key, too.
func (ch *channel) queueBinding(name, exchange, key string, args message.Table) (catalog.BindSpec, error) {
	name = stripLineEnds(name)
	resolved, err := ch.queueName(name)
	if err != nil {
		return catalog.BindSpec{}, err
	}
	if isReplyName(resolved) {
		return catalog.BindSpec{}, faultf(amqpcode.AccessRefused, "cannot bind or unbind to a volatile (direct reply-to) queue")
	}
	if name == "" && key == "" {
		key = resolved
	}
	return catalog.BindSpec{Source: stripLineEnds(exchange), Destination: resolved, Key: key, Args: args}, nil
}

func exchangeBinding(source, destination, key string, args message.Table) catalog.BindSpec {
	return catalog.BindSpec{
		Source: stripLineEnds(source), Destination: stripLineEnds(destination), ToExchange: true, Key: key, Args: args,
	}
}

func (ch *channel) bindQueue(m *amqpwire.QueueBind) error {
	b, err := ch.queueBinding(m.Queue, m.Exchange, m.RoutingKey, m.Arguments)
	if err != nil {
		return err
	}
	return ch.c.session.Bind(b)
}

func (ch *channel) unbindQueue(m *amqpwire.QueueUnbind) error {
	b, err := ch.queueBinding(m.Queue, m.Exchange, m.RoutingKey, m.Arguments)
	if err != nil {
		return err
	}
	return ch.c.session.Unbind(b)
}

func (ch *channel) purgeQueue(m *amqpwire.QueuePurge) error {
	name, err := ch.queueName(m.Queue)
	if err != nil {
		return err
	}
	n, err := ch.c.session.PurgeQueue(name)
	return ch.answer(m.NoWait, &amqpwire.QueuePurgeOk{MessageCount: uint32(n)}, ch.ofStream(err, "queue.purge", name))
}

func (ch *channel) deleteQueue(m *amqpwire.QueueDelete) error {
	name, err := ch.queueName(stripLineEnds(m.Queue))
	if err != nil {
		return err
	}
	ch.setDeleting(true)
	n, err := ch.c.session.DeleteQueue(name, m.IfUnused, m.IfEmpty)
	err = ch.answer(m.NoWait, &amqpwire.QueueDeleteOk{MessageCount: uint32(n)}, err)
	ch.setDeleting(false)
	return err
}

// setDeleting records that a queue.delete begins, or that it has been answered.
func (ch *channel) setDeleting(deleting bool) {
	o := &ch.c.out
	o.mu.Lock()
	ch.deleting = deleting
	ch.notifyCancelledLocked()
	o.mu.Unlock()
	o.signal() // the writer may be waiting although there is an answer
}
