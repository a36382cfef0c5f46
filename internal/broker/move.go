package broker

import (
	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
)

// Move takes a ready message off a queue and puts it into one, all of it as it is, at one moment.
type Move struct {
	OnQueue
	To       string
	FromBack bool   // it takes the message that would be delivered last
	ToFront  bool   // and puts it before the head
	CreateTo bool   // a durable queue is made when there is none
	Create   bool   // the same for the one it takes from: for who waits
	Moved    bool   // there was a message
	Body     []byte // of it; not to be changed

	to    *Queue // nil: errTo tells why, and counts when there is something to move
	errTo error
	// taken is the message. While it is lent it was taken, but the shard of the other queue did not
	// stand still: it stays unacked until both do.
	taken queue.Item
	from  *Queue
	lent  bool
}

func (m *Move) Find(f Finder) (*Queue, error) {
	s := f.s
	if err := s.may(toWrite, "queue", m.To); err != nil { // whether or not there is something to move
		return nil, err
	}
	q, err := s.readableList(m.Queue, m.Create)
	if err == nil {
		m.to, m.errTo = s.writable(m.To, m.CreateTo)
	}
	return q, err
}

func (m *Move) Others(fn func(*Queue)) {
	if m.to != nil {
		fn(m.to)
	}
}

func (m *Move) Got() bool { return m.Moved }

func (m *Move) Run(at Context) error {
	sh, q := at.sh, at.q
	switch {
	case !m.lent:
		it := sh.takeNext(m.session, q, m.FromBack, false)
		if m.Moved = it != nil; !m.Moved {
			return nil
		}
		m.taken, m.from, m.Body = *it, q, it.Env.Body()
	case m.from != q:
		return FindAgain // with the message
	}
	if m.lent = m.to != nil && !sh.standsStill(m.to.shard); m.lent {
		return nil
	}
	if err := m.put(); err != nil {
		sh.release(&op{queue: q, handle: m.taken.Handle, n: 1})
		return err
	}
	sh.settle(q, m.taken.Handle, 1)
	m.taken.Env = nil
	return nil
}

// put publishes the message.
func (m *Move) put() error {
	if m.errTo != nil {
		return m.errTo
	}
	if m.to.gone {
		return FindAgain
	}
	if m.to.content.Stream != nil {
		return m.to.errWrongKind()
	}
	kind, err := m.to.end(m.ToFront)
	if err != nil {
		return err
	}
	peek, err := message.PeekProperties(m.taken.Env.Properties())
	if err != nil {
		return err
	}
	o := op{
		kind: kind, persistent: peek.Persistent(), priority: peek.Priority, queue: m.to, env: m.taken.Env, ttl: -1,
		deadline: m.taken.Expires,
	}
	m.to.shard.tapPublish(m.on(), &o)
	if !m.to.shard.publish(&o) {
		return m.to.rejected()
	}
	return nil
}

// finish moves a message that is lent. When that cannot be, the message is back at its place.
func (m *Move) Finish(s *Session) {
	if !m.lent {
		return
	}
	if err := s.DoAll(m); err != nil {
		m.Err = err
	}
	if m.lent {
		m.lent = false
		s.Release(m.from, m.taken.Handle, 1)
		s.Flush()
	}
}
