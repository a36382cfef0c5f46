package resp

import (
	"crypto/rand"
	"sync"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
)

// bridges forwards messages that other protocols publish to exchanges to the subscribers of the
// channels of the same names. Each channel with subscribers has one queue of its own, bound to the
// exchange; if there is no exchange, one is created that is deleted with the last subscriber.
type bridges struct {
	srv *Server

	mu       sync.Mutex // held while definitions change
	sessions map[string]*bridgeSession
	open     map[topic]*bridge

	queues sync.Map // topic -> name of its bridge's queue, stored before the binding and removed after the queue
}

// bridgeSession is the server's own session on a virtual host. It lasts as long as there are
// bridges.
type bridgeSession struct {
	*broker.Session
	used int
}

// bridge is the bridge of one channel.
type bridge struct {
	subscribers int
	queue       string // "" if no queue has been built
	consumer    *shard.Consumer
}

// mostName is the maximum length of the name of an exchange, in bytes.
const mostName = 255

func (b *bridges) init(s *Server) {
	b.srv, b.sessions, b.open = s, map[string]*bridgeSession{}, map[topic]*bridge{}
}

// join adds a subscriber. If the channel cannot have an exchange, the subscriber does not get the
// messages of other protocols.
func (b *bridges) join(by *broker.Session, channel string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := topic{by.VHost(), channel}
	br := b.open[t]
	if br == nil {
		br = &bridge{}
		b.open[t] = br
	}
	br.subscribers++
	var err error
	switch there := by.HasExchange(channel); {
	case channel == "" || len(channel) > mostName || !there && by.MayConfigure("exchange", channel) != nil:
		return
	case there && br.queue != "": // the exchange may have been deleted and declared again
		err = b.bind(t, br)
	default:
		err = b.build(t, br, there)
	}
	if err != nil {
		b.srv.o.Log.Debug("redis: cannot bridge a channel to its exchange", "channel", channel, "vhost", t.vhost, "err", err)
		b.demolish(t, br)
	}
}

// build creates the queue of br, its bindings and its consumer. there says whether the exchange
// exists; if it does not, build creates it. The caller holds b.mu and calls demolish on an error.
func (b *bridges) build(t topic, br *bridge, there bool) error {
	b.demolish(t, br)
	s, err := b.session(t.vhost)
	if err != nil {
		return err
	}
	s.used++
	br.queue = "redis.channel-" + rand.Text() // a new and unguessable name
	if !there {
		if err := s.DeclareExchange(catalog.ExchangeSpec{Name: t.name, Type: "fanout", AutoDelete: true}); err != nil {
			return err
		}
	}
	if _, err := s.DeclareQueue(catalog.QueueSpec{Name: br.queue, Exclusive: true, Policy: catalog.DefaultQueuePolicy()}); err != nil {
		return err
	}
	b.queues.Store(t, br.queue)
	if err := b.bind(t, br); err != nil {
		return err
	}
	br.consumer, err = s.Consume(shard.ConsumerSpec{Queue: br.queue, NoAck: true, Data: t})
	return err
}

// bind binds the queue of br to the exchange, as far as it is not bound. The caller holds b.mu.
func (b *bridges) bind(t topic, br *bridge) error {
	for _, key := range []string{"#", t.name} { // everything from a topic exchange; from a direct one, messages with the name as key
		if err := b.sessions[t.vhost].Bind(catalog.BindSpec{Source: t.name, Destination: br.queue, Key: key}); err != nil {
			return err
		}
	}
	return nil
}

// demolish undoes build. The caller holds b.mu.
func (b *bridges) demolish(t topic, br *bridge) {
	if br.queue == "" {
		return
	}
	s := b.sessions[t.vhost]
	if br.consumer != nil {
		s.Cancel(br.consumer)
	}
	s.DeleteQueue(br.queue, false, false) //nolint:errcheck // it may be gone: its virtual host was deleted
	b.queues.Delete(t)
	br.queue, br.consumer = "", nil
	if s.used--; s.used == 0 {
		s.Close()
		delete(b.sessions, t.vhost)
	}
}

// session returns the server's session on a virtual host and opens it if needed. The caller holds
// b.mu.
func (b *bridges) session(vhost string) (*bridgeSession, error) {
	if s := b.sessions[vhost]; s != nil {
		return s, nil
	}
	s, err := b.srv.broker.OperateFor(vhost, b)
	if err != nil {
		return nil, err
	}
	b.sessions[vhost] = &bridgeSession{Session: s}
	return b.sessions[vhost], nil
}

// leave removes a subscriber.
func (b *bridges) leave(t topic) {
	b.mu.Lock()
	defer b.mu.Unlock()
	br := b.open[t]
	if br.subscribers--; br.subscribers == 0 {
		b.demolish(t, br)
		delete(b.open, t)
	}
}

// Deliver implements shard.Sink.
func (b *bridges) Deliver(ds []shard.Delivery) {
	hub := &b.srv.hub
	hub.mu.RLock()
	defer hub.mu.RUnlock()
	for _, d := range ds {
		t := d.Consumer.Data.(topic)
		hub.toChannel(t.vhost, t.name, string(d.Env.Body()))
	}
}

// Cancelled implements shard.Sink. It does nothing: the queue was deleted, alone or with its
// virtual host.
func (b *bridges) Cancelled(*shard.Consumer) {}

// queue returns the name of the queue of a channel's bridge, or "" if there is none.
func (b *bridges) queue(t topic) string {
	name, _ := b.queues.Load(t)
	queue, _ := name.(string)
	return queue
}

// transient is the delivery mode of messages published to a channel.
const transient = 1

var (
	channelProps = (&message.Properties{Flags: message.HasDeliveryMode, DeliveryMode: transient}).Append(nil)
	channelPeek  = message.Peek{List: channelProps, DeliveryMode: transient}
)

// publish publishes a message to the exchange with the channel's name, if there is one, to all
// queues except that of the bridge. It returns the number of those queues. It fails with the errors
// of Session.Route, or with a command.Error while a resource alarm is active.
func (b *bridges) publish(s *broker.Session, channel, body []byte) (n int, err error) {
	if len(channel) == 0 || len(channel) > mostName || !s.HasExchange(string(channel)) {
		return 0, nil
	}
	peek := channelPeek
	peek.Body = body
	t := topic{s.VHost(), string(channel)}
	before := b.queue(t) // and again after Route: the bridge may be built or removed meanwhile
	targets, err := s.Route(channel, channel, &peek, nil)
	if err != nil {
		return 0, err
	}
	targets = targets.Without(before).Without(b.queue(t))
	if targets.Empty() {
		return 0, nil
	}
	if e := b.srv.alarm(); e != "" {
		return 0, e
	}
	env := make([]byte, 0, message.EnvelopeSize(len(channel), len(channel), len(channelProps), len(body)))
	env = append(message.AppendEnvelopeHeader(env, channel, channel, channelProps), body...)
	s.Publish(&shard.Publish{Targets: targets, Env: env, TTL: -1})
	s.Flush()
	return len(targets.Queues()), nil
}
