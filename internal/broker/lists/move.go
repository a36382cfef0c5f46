package lists

import (
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// Move moves a ready message unchanged from one queue to another, in one batch of the log. If the
// other queue does not accept it, the message stays in its place. Errors: those of Push, and for
// the other queue those of all commands.
type Move struct {
	broker.OnQueue
	To       string
	FromBack bool   // take the message that would be delivered last
	ToFront  bool   // and put it before the head
	CreateTo bool   // create a missing queue, durable
	Create   bool   // the same for the queue that it takes from, so that Await can wait at it
	Moved    bool   // result: there was a message
	Body     []byte // its body; must not be changed

	to    *shard.Queue // nil: errTo has the reason, which counts only if there is a message to move
	errTo error

	// taken is the message that was taken from a queue. If lent is set, the other queue's shard did
	// not stand still when it was taken: the message stays unacked until both shards do.
	taken queue.Item
	from  *shard.Queue
	lent  bool
}

// Find implements broker.Command.
func (m *Move) Find(f broker.Finder) (*shard.Queue, error) {
	if err := f.May(broker.Writing, m.To); err != nil { // whether or not there is a message to move
		return nil, err
	}
	q, err := f.Queue(broker.Reading, m.Queue, m.Create)
	if err == nil {
		m.to, m.errTo = f.ToPublish(m.To, m.CreateTo)
	}
	return q, err
}

// Others appends the queue that the message goes to.
func (m *Move) Others(dst []*shard.Queue) []*shard.Queue {
	if m.to != nil {
		dst = append(dst, m.to)
	}
	return dst
}

// Got implements the method that Await asks for.
func (m *Move) Got() bool { return m.Moved }

// Run implements broker.Command.
func (m *Move) Run(at shard.Context) error {
	switch {
	case !m.lent:
		it := at.Take(m.By(), m.FromBack, false)
		if m.Moved = it != nil; !m.Moved {
			return nil
		}
		m.taken, m.from, m.Body = *it, at.Queue(), it.Env.Body()
	case m.from != at.Queue():
		return broker.ErrFindAgain // with the message
	}
	if m.lent = m.to != nil && !at.StandsStill(m.to); m.lent {
		return nil
	}
	if err := m.put(at); err != nil {
		at.Release(m.taken.Handle)
		return err
	}
	at.Settle(m.taken.Handle, 1)
	m.taken.Env = nil
	return nil
}

// put publishes the message.
func (m *Move) put(at shard.Context) error {
	if m.errTo != nil {
		return m.errTo
	}
	to := at.Other(m.to)
	switch {
	case to.Gone():
		return broker.ErrFindAgain
	case to.Content().Stream != nil:
		return m.to.Fail(failure.ErrWrongKind)
	}
	peek, err := message.PeekProperties(m.taken.Env.Properties())
	if err != nil {
		return err
	}
	return publish(to, m.By(), &shard.Publish{
		Env: m.taken.Env, Persistent: peek.Persistent(), Priority: peek.Priority, TTL: -1, Deadline: m.taken.Expires, Reserved: true,
	}, m.ToFront)
}

// Finish moves a message that is lent. If that is not possible, the message returns to its place.
func (m *Move) Finish(s *broker.Session) {
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
