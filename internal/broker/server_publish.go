package broker

import (
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/forward"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/routing"
)

// ServerPublish publishes a message of the server itself as part of the atomic group that
// Session.DoAll or Tx.Commit writes: after a crash the message and the other changes of the group
// either all exist or none do. It is routed like any message to its exchange, which may be
// internal. If the exchange or virtual host does not exist, it reaches nothing. It comes last in
// the group and cannot make it fail: a full queue that rejects messages does not get it. It needs
// no permission. If it is persistent, consumers of a durable queue get it, and Session.Get returns
// it, once the group is durable.
type ServerPublish struct {
	OnQueue // without a queue
	VHost   catalog.VHostID
	Env     message.Envelope // with its exchange, routing key and properties; belongs to the engine from now on

	to shard.Targets
}

// Find routes the message. Errors: those of properties that cannot be read.
func (e *ServerPublish) Find(f Finder) (*shard.Queue, error) {
	m, err := forward.Read(e.Env)
	if err != nil {
		return nil, err
	}
	e.to = f.s.emitted(e.VHost, &m)
	return nil, nil
}

// emitted finds the queues of a message of the server. They are cached separately from those of the
// session's own messages, which need permissions.
func (s *Session) emitted(vhost catalog.VHostID, m *forward.Message) shard.Targets {
	v := s.b.findVHost(vhost)
	if v == nil {
		return shard.Targets{}
	}
	exchange, key, _, _ := m.Env.Split()
	table := v.Table()
	if m.OneKey() {
		if t, ok := s.emits.Get(table, exchange, key); ok {
			v.Emitted(s.emits.Traffic, len(t.Queues()))
			return t
		}
	}
	x, ok := table.Exchange(string(exchange))
	if !ok {
		return shard.Targets{}
	}
	s.asked = m.Routed()
	table.RouteFrom(x, &s.asked, &s.found)
	s.asked = routing.Message{}
	t := v.Resolve(s.found.Queues)
	v.Emitted(x.Traffic(), len(t.Queues()))
	if m.OneKey() && s.found.ByKey {
		s.emits.Put(t, x.Traffic())
	}
	return t
}

// Others appends the queues: they are found before any command is executed.
func (e *ServerPublish) Others(dst []*shard.Queue) []*shard.Queue {
	return append(dst, e.to.Queues()...)
}

// Run is not called: the message may go to several shards, or to none.
func (e *ServerPublish) Run(shard.Context) error { return nil }

// each calls fn with the publish for each shard.
func (e *ServerPublish) each(fn func(*shard.Shard, shard.Op)) {
	if e.to.Empty() {
		return
	}
	m, _ := forward.Read(e.Env) // Find has read it
	o := shard.ForwardOp(&m)
	o.Kind = shard.OpServerPublish
	e.to.Each(o, fn)
}

// publish puts the message into its queues while their shards are stopped.
func (e *ServerPublish) publish() { e.each(func(sh *shard.Shard, o shard.Op) { sh.ServerPublish(&o) }) }

// refused returns nil: a queue that rejects the message does not get it.
func (e *ServerPublish) refused(*commandGroup) error { return nil }

func (e *ServerPublish) demanded() bool { return true }

// size returns the bytes that the message takes in the group of the log.
func (e *ServerPublish) size() int { return int(e.to.Parts()) * len(e.Env) }

// Listens reports whether a message to an exchange could reach a queue now. If not, a ServerPublish
// to it has no effect.
func (b *Broker) Listens(vhost catalog.VHostID, exchange string) bool {
	v := b.findVHost(vhost)
	if v == nil {
		return false
	}
	x, ok := v.Table().Exchange(exchange)
	return exchange == "" || ok && (x.BindingCount() > 0 || x.Spec.Alternate != "" || x.Buffer().Queue != 0)
}
