package broker

import (
	"fiveways/internal/core/catalog"
	"fiveways/internal/core/forward"
	"fiveways/internal/core/message"
	"fiveways/internal/core/routing"
)

// Tapped is a message of a tapped virtual host (SetTapped) that was published or handed out.
type Tapped struct {
	Env   message.Envelope
	VHost string

	User, Client string // of the session that published it or got it; Client is Session.Name
	Channel      int    // of that session, 0: none in particular

	// Of a message that was published: the further keys by which it was routed, nil when they are
	// those of its headers, and the queues of clients to which it goes.
	Also   [][]byte
	Queues []string

	// Of a message that was handed out.
	HandedOut   bool
	Queue       string
	Redelivered bool
}

// SetTapped starts or stops the tap of a virtual host. While it is tapped, Options.Tap makes a
// message of each message that a session publishes or is handed there, and that is published to the
// exchange routing.Tap, transient and at most once. Messages of that exchange are not tapped, nor
// is what the engine does by itself: dead letters, ServerPublish, messages that leave an exchange.
// The tap does not outlast the process. Errors: ErrVHostNotFound.
func (b *Broker) SetTapped(vhost string, on bool) error {
	v, ok := b.vhost(vhost)
	if !ok {
		return catalog.VHostNotFound(vhost)
	}
	if v.tapped.Swap(on) != on {
		b.log.Info("tracing of a virtual host is switched", "vhost", vhost, "on", on)
	}
	return nil
}

// Tapped reports whether TapPublish does anything.
func (s *Session) Tapped() bool { return s.vhost.tapped.Load() }

// TapPublish reports a message to the tap before the session publishes it. Publish and the commands
// do so themselves, unless Publish.Told says that it was done.
func (s *Session) TapPublish(channel int, env message.Envelope, also [][]byte, to Targets) {
	if !s.Tapped() {
		return
	}
	t := Tapped{Env: env, VHost: s.vhost.Name, User: s.User, Client: s.Name, Channel: channel, Also: also, Queues: to.names()}
	s.vhost.tell(&t, s.gather)
}

// tapPublish is TapPublish on the goroutine of a shard, for a command that publishes to one queue.
func (sh *shard) tapPublish(c *OnQueue, o *op) {
	if s := c.session; s != nil && o.queue.vhost.tapped.Load() {
		t := Tapped{Env: o.env, VHost: o.queue.vhost.Name, User: s.User, Client: s.Name, Queues: []string{o.queue.Name}}
		o.queue.vhost.tell(&t, sh.offer)
	}
}

// holder is the session, and its channel, that a message is handed to.
type holder struct {
	session *Session
	channel int
}

// tapDelivery reports a message that is handed out to the tap.
func (sh *shard) tapDelivery(d *Delivery, to holder) {
	v := d.Queue.vhost
	if !v.tapped.Load() || d.Queue.relay != nil || to.session == nil {
		return
	}
	t := Tapped{
		Env: d.Env, VHost: v.Name, User: to.session.User, Client: to.session.Name, Channel: to.channel,
		HandedOut: true, Queue: d.Queue.Name, Redelivered: d.Redelivered,
	}
	v.tell(&t, sh.offer)
}

// tell publishes what the tap makes of t, by way of put.
func (v *VHost) tell(t *Tapped, put func(*shard, op)) {
	x, ok := v.Table().Exchange(routing.Tap)
	if !ok || x.BindingCount() == 0 || string(t.Env.Exchange()) == routing.Tap || v.b.opts.Tap == nil {
		return
	}
	m, err := forward.Read(v.b.opts.Tap(t))
	if err != nil {
		return // not a message of Options.Tap
	}
	targets, _ := v.routeOut(routing.Tap, &m, routing.PastFirst)
	v.emitted(x.Traffic(), len(targets.queues))
	o := forwardOp(&m)
	o.kind = opServerPublish
	targets.each(o, put)
}

// offer hands an op that may be lost to a shard. This shard does it next; another one gets it
// unless its inbox is full, because a shard never waits for another.
func (sh *shard) offer(to *shard, o op) {
	switch {
	case to == sh:
		sh.local = append(sh.local, o)
	case !to.inbox.offer(o):
		sh.untold++
	case sh.untold > 0:
		sh.b.log.Warn("messages of a trace are missing: a shard was behind", "missing", sh.untold)
		sh.untold = 0
	}
}
