package shard

import (
	"fiveways.dev/fiveways/internal/core/forward"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/routing"
)

// Tapped is a message that was published or delivered in a tapped virtual host (SetTapped).
type Tapped struct {
	Env   message.Envelope
	VHost string

	User, Client string // of the session that published or received it; Client is Session.Name
	Channel      int    // of that session; 0: none in particular

	// For a published message: the additional keys by which it was routed, nil if they are those of
	// its headers, and the clients' queues that it reaches.
	Also   [][]byte
	Queues []string

	// For a delivered message.
	HandedOut   bool
	Queue       string
	Redelivered bool
}

// tapPublish is TapPublish on the goroutine of a shard, for a command that publishes to one queue.
func (sh *Shard) tapPublish(s *Client, o *Op) {
	if s != nil && o.Queue.vhost.tapped.Load() {
		t := Tapped{Env: o.Env, VHost: o.Queue.vhost.Name, User: s.User, Client: s.Name, Queues: []string{o.Queue.Name}}
		o.Queue.vhost.Tell(&t, sh.offer)
	}
}

// holder is the session, and its channel, that receives a message.
type holder struct {
	client  *Client
	channel int
}

// tapDelivery reports a delivered message to the tap.
func (sh *Shard) tapDelivery(d *Delivery, to holder) {
	v := d.Queue.vhost
	if !v.tapped.Load() || d.Queue.buffer != nil || to.client == nil {
		return
	}
	t := Tapped{
		Env: d.Env, VHost: v.Name, User: to.client.User, Client: to.client.Name, Channel: to.channel,
		HandedOut: true, Queue: d.Queue.Name, Redelivered: d.Redelivered,
	}
	v.Tell(&t, sh.offer)
}

// Tell publishes, through put, the message that the tap creates from t.
func (v *VHost) Tell(t *Tapped, put func(*Shard, Op)) {
	x, ok := v.Table().Exchange(routing.Tap)
	if !ok || x.BindingCount() == 0 || string(t.Env.Exchange()) == routing.Tap || v.set.Tap == nil {
		return
	}
	m, err := forward.Read(v.set.Tap(t))
	if err != nil {
		return // Options.Tap has created no message from it
	}
	targets, _ := v.routeOut(routing.Tap, &m, routing.PastFirst)
	v.Emitted(x.Traffic(), len(targets.queues))
	o := ForwardOp(&m)
	o.Kind = OpServerPublish
	targets.Each(o, put)
}

// offer hands an op that may be lost to a shard. This shard executes it next. Another one gets it
// unless its inbox is full, because a shard never waits for another.
func (sh *Shard) offer(to *Shard, o Op) {
	switch {
	case to == sh:
		sh.local = append(sh.local, o)
	case !to.inbox.Offer(o, len(o.Env)):
		sh.untold++
	case sh.untold > 0:
		sh.set.Logger.Warn("messages of a trace are missing: a shard was behind", "missing", sh.untold)
		sh.untold = 0
	}
}
