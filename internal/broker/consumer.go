package broker

import (
	"fiveways/internal/core/dispatch"
	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
)

// Limit bounds the unacked deliveries of several consumers together (the global prefetch of a
// channel), on any queues and shards.
type Limit = dispatch.Limit

// NewLimit returns a limit of n deliveries, 0: unlimited.
func NewLimit(n int) *Limit { return dispatch.NewLimit(n) }

// Window counts the bytes of deliveries that one connection has not written yet: the sink adds what
// it encodes, the connection's writer subtracts what it has written.
type Window = dispatch.Window

// Consumer receives the messages of one queue for one session.
type Consumer struct {
	Tag       string
	NoAck     bool
	Queue     *Queue // nil for a mailbox
	Data      any    // the protocol's own
	Priority  int
	Channel   int  // of the connection, 0: its protocol has none
	Exclusive bool // it wants no others
	Args      message.Table

	session *Session
	copier  *copier           // nil unless ConsumeFrom has made it
	state   dispatch.Consumer // belongs to the queue's shard, as out does
	out     *outbox
}

// Session is the session that consumes.
func (c *Consumer) Session() *Session { return c.session }

// ConsumerOf is the consumer that dispatch knows.
func ConsumerOf(c *dispatch.Consumer) *Consumer { return c.Owner.(*Consumer) }

// exclusive reports whether the queue has a consumer that wants no others.
func (q *Queue) exclusive() bool {
	return q.consumers.Len() > 0 && ConsumerOf(q.consumers.All()[0]).Exclusive
}

// consumed implements dispatch.Queue for a queue.
type consumed struct{ q *Queue }

func (c consumed) Loop() dispatch.Loop { return c.q.shard }
func (c consumed) Look()               { c.q.shard.mark(c.q) }

// Grant implements dispatch.Loop.
func (sh *shard) Grant(s *dispatch.Share, n int) {
	sh.inbox.push([]op{{kind: opGrant, extra: s, n: uint32(n)}}, false)
}

// selection implements dispatch.Source: a queue is the source of its selective dispatch.
type selection struct {
	q      *Queue
	posted bool // another look is posted to the shard
}

func (q *Queue) newSelective() *dispatch.Selective {
	q.selection = selection{q: q}
	return dispatch.NewSelective(q.Policy().GroupHeader, q.state, &q.selection)
}

func (s *selection) Next(until int64) *queue.Item { return s.q.shard.nextReady(s.q, until) }

func (s *selection) TakeAside(h queue.Handle, until int64) *queue.Item {
	return s.q.shard.takeAside(s.q, h, until)
}

func (s *selection) Deliver(c *dispatch.Consumer, it *queue.Item) {
	s.q.shard.deliver(s.q, ConsumerOf(c), it)
}

func (s *selection) LookAgain() {
	if s.posted {
		return
	}
	s.posted = true
	s.q.shard.post(func() {
		s.posted = false
		if !s.q.gone {
			s.q.shard.mark(s.q)
		}
	})
}

// refilter is called when the consumers of a queue have changed. When their selectors have changed
// with them, all messages that were set aside are looked at again.
func (sh *shard) refilter(q *Queue) {
	if q.selective == nil {
		if !q.consumers.Selectors() {
			return
		}
		q.endEarly()
		q.selective = q.newSelective()
	}
	changed, needed := q.selective.Refilter(&q.consumers)
	if !needed {
		q.selective = nil
	}
	if changed {
		sh.mark(q)
	}
}

// takeAside lends a message that was set aside, with its body; nil when it expires by until (its
// timer ends it) or cannot be read.
func (sh *shard) takeAside(q *Queue, h queue.Handle, until int64) *queue.Item {
	it := q.state.Lend(h)
	if it.Expires != 0 && it.Expires <= until {
		q.state.Park(h)
		return nil
	}
	if it.Env != nil {
		return it
	}
	env, err := sh.loadAside(it)
	if err != nil {
		sh.setAside(q, it, err)
		return nil
	}
	sh.loaded = *it
	sh.loaded.Env = env
	return &sh.loaded
}

// oldest lends the message that a length limit drops first.
func (sh *shard) oldest(q *Queue) *queue.Item {
	if q.selective != nil || q.early != nil {
		return q.state.Oldest()
	}
	return q.state.Next(sh.now)
}
