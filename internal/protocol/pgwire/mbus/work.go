package mbus

import (
	"context"
	"errors"
	"slices"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/loans"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/protocol/pgwire/mbus/byid"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/semaphores"
)

// journal records what the open transaction has done so far, in order. A savepoint is a length of
// it.
type journal struct {
	readOnly          bool
	entries           []entry
	posts             byid.Stack[*pending] // those among them
	bytes             int64                // memory used by them
	held              byid.Stack[*held]    // those among them
	heldIn            map[string]int64     // their number by queue
	steps             int                  // changes of the definitions among them
	claims            int                  // claims of pending posts
	tasks, semaphores int                  // changes of tasks and of their semaphores among them

	latest temporal.Timestamp // the latest delayed_until so far: a further post with an earlier one has an Order
}

// pendingBytes is the approximate memory overhead of a pending post beyond its message.
const pendingBytes = 256

func (p *pending) bytes() int64 { return int64(len(p.publish.Env)) + pendingBytes }

// entry is one operation: a *pending post that waits for the commit, a *held message that was taken
// from its queue, an *ownTake of one of the transaction's own pending posts, a *step that changes
// the definitions; or, applied at the commit, a *TaskChange or a semaphores.Change.
type entry any

// pending is a post that is visible only to its own session.
type pending struct {
	publish shard.Publish
	iid     string
	named   string       // the queue that the client named; "" for a copy made by a trigger
	after   []string     // ids of the messages that it depends on
	claim   *loans.Claim // on its iid, if the client supplied it
	taken   []string     // queues from which the transaction has already taken it
	purged  bool         // deleted from all queues
}

// held is a message that was taken. The commit deletes it, a rollback returns it.
type held struct {
	queue  *shard.Queue
	handle queue.Handle
	iid    string // "": none
}

type ownTake struct {
	post  *pending
	queue string
}

// step is a change of the definitions. undo reverts it and commit completes it; either may be nil.
type step struct {
	undo   func()
	commit func() error
}

func (j *journal) add(e entry) {
	switch e := e.(type) {
	case *pending:
		j.posts.Push(e)
		j.bytes += e.bytes()
		if e.claim != nil {
			j.claims++
		}
	case *held:
		j.held.Push(e)
		if j.heldIn == nil {
			j.heldIn = map[string]int64{}
		}
		j.heldIn[e.queue.Name]++
	case *step:
		j.steps++
	case *TaskChange:
		j.tasks++
	case semaphores.Change:
		j.semaphores++
	}
	j.entries = append(j.entries, e)
}

// Begin starts a transaction.
func (s *Session) Begin(readOnly bool) { s.work.readOnly = readOnly }

// Commit makes the transaction durable. One that posts waits until no alarm blocks publishers and
// the rate limits allow it, or until ctx is done. If Commit returns an error, none of the
// transaction's posts, takes and semaphore changes has happened, except that after a failure of the
// log all of them may have.
func (s *Session) Commit(ctx context.Context) error {
	j := &s.work
	if len(j.entries) == 0 {
		j.readOnly = false
		return nil
	}
	if err := s.commitWork(ctx); err != nil {
		s.Rollback()
		if errors.Is(err, ctx.Err()) {
			return err // the session tells why ctx has ended
		}
		return s.failed(err)
	}
	var steps []*step
	if j.steps > 0 {
		for _, e := range j.entries {
			if st, ok := e.(*step); ok && st.commit != nil {
				steps = append(steps, st)
			}
		}
	}
	s.forget()
	var failed error
	for _, st := range steps {
		if err := st.commit(); err != nil && failed == nil {
			failed = err
		}
	}
	return failed
}

// commitWork applies everything that is deferred to the commit, atomically.
func (s *Session) commitWork(ctx context.Context) error {
	j := &s.work
	var tx *broker.Tx
	if j.posts.Len() > 0 || j.held.Len() > 0 {
		if err := s.renew(); err != nil {
			return err
		}
		tx = s.own.NewTx()
		j.fill(tx)
		if err := tx.AwaitRoom(ctx); err != nil {
			return err
		}
		if j.posts.Len() > 0 { // an alarm may have begun meanwhile, and then there is room
			if err := s.b.AwaitNoAlarm(ctx); err != nil {
				return err
			}
		}
	}
	switch {
	case j.tasks > 0 || j.semaphores > 0:
		return s.commitChanges(tx)
	case tx != nil:
		return tx.Commit()
	}
	return nil
}

// renew looks up the queues of all posts again, except those from which the transaction took the
// posts itself. Other sessions may have dropped queues since; in PostgreSQL, a drop of a table
// would wait for this transaction. renew returns an error if a message posted by the client would
// be lost.
func (s *Session) renew() error {
	for _, p := range s.work.posts.All() {
		if p.purged {
			continue
		}
		for _, q := range p.taken {
			p.publish.Targets = p.publish.Targets.Without(q)
		}
		if p.publish.Targets.Empty() {
			continue
		}
		p.publish.Targets = s.own.Renew(p.publish.Targets, "")
		if p.publish.Targets.Empty() && p.named != "" {
			return pgerror.New(pgerror.RaiseException, "Unknown queue:%s", p.named).
				WithDetail("It was dropped after the transaction had posted to it.")
		}
	}
	return nil
}

// fill adds all posts and then all takes to tx, and combines adjacent takes. Posts go first: a
// message that moves to another queue keeps its iid, and messages that depend on it must not be
// unblocked in between.
func (j *journal) fill(tx *broker.Tx) {
	tx.Expect(j.posts.Len())
	for _, p := range j.posts.All() {
		if !p.purged && !p.publish.Targets.Empty() {
			tx.Publish(&p.publish)
		}
	}
	var run held
	n := 0
	for _, h := range j.held.All() {
		switch {
		case n > 0 && h.queue == run.queue && h.handle == run.handle+queue.Handle(n):
			n++
		default:
			if n > 0 {
				tx.Ack(run.queue, nil, run.handle, n)
			}
			run, n = *h, 1
		}
	}
	if n > 0 {
		tx.Ack(run.queue, nil, run.handle, n)
	}
}

// forget empties the journal. It does not keep a large one for reuse.
func (s *Session) forget() {
	j := &s.work
	if j.claims > 0 {
		for _, p := range j.posts.All() {
			p.claim.Release()
		}
	}
	clear(j.entries)
	if j.entries = j.entries[:0]; cap(j.entries) > 64 {
		j.entries = nil
	}
	j.posts.Clear()
	j.held.Clear()
	clear(j.heldIn)
	j.bytes, j.steps, j.claims, j.tasks, j.semaphores, j.readOnly = 0, 0, 0, 0, 0, false
}

// Rollback undoes the transaction.
func (s *Session) Rollback() {
	s.undo(0)
	s.forget()
}

// Savepoint returns a mark for RollbackTo.
func (s *Session) Savepoint() int { return len(s.work.entries) }

// RollbackTo undoes everything after a mark.
func (s *Session) RollbackTo(mark int) { s.undo(mark) }

// undo reverts the entries after mark, in reverse order.
func (s *Session) undo(mark int) {
	j := &s.work
	released := false
	for i := len(j.entries) - 1; i >= mark; i-- {
		switch e := j.entries[i].(type) {
		case *pending:
			j.posts.Pop()
			j.bytes -= e.bytes()
			if e.claim != nil {
				j.claims--
				e.claim.Release()
			}
		case *held:
			j.held.Pop()
			j.heldIn[e.queue.Name]--
			s.own.Release(e.queue, e.handle, 1)
			released = true
		case *ownTake:
			if at := slices.Index(e.post.taken, e.queue); at >= 0 {
				e.post.taken = slices.Delete(e.post.taken, at, at+1)
			}
		case *TaskChange:
			j.tasks--
		case semaphores.Change:
			j.semaphores--
		case *step:
			j.steps--
			if released { // messages must be back in a queue before it is deleted
				s.own.Flush()
				released = false
			}
			if e.undo != nil {
				e.undo()
			}
		}
		j.entries[i] = nil
	}
	j.entries = j.entries[:mark]
	if released {
		s.own.Flush()
	}
}

// hold records in h a message that was lent to the session.
func (s *Session) hold(h *held, d *shard.Delivery) {
	*h = held{queue: d.Queue, handle: d.Handle, iid: messageID(d.Env)}
	s.work.add(h)
}

func messageID(m message.Envelope) string {
	id, _ := message.FindProperty(m.Properties(), message.HasMessageID)
	return string(id)
}

// holdsID reports whether the transaction has taken a message with this iid from the queue.
func (s *Session) holdsID(queueName, iid string) bool {
	for h := range s.work.held.With(iid) {
		if h.queue.Name == queueName {
			return true
		}
	}
	return false
}

// ID returns the iid.
func (h *held) ID() string {
	if h.iid != "" {
		return h.iid
	}
	return placeID(h.queue.Name, h.handle)
}

func (h *held) loan() shard.Loan { return shard.Loan{Queue: h.queue, Handle: h.handle} }

// loansOf returns the messages with this iid that the transaction holds.
func (s *Session) loansOf(iid string) (all []shard.Loan) {
	for h := range s.work.held.With(iid) {
		all = append(all, h.loan())
	}
	return all
}

// change records a change of the definitions that a rollback can undo.
func (s *Session) change(st step) { s.work.add(&st) }

// waiting calls fn for the transaction's own posts in a queue, in posting order, until fn returns
// false.
func (s *Session) waiting(queueName string, fn func(*pending) bool) {
	for _, p := range s.work.posts.All() {
		if p.in(queueName) && !fn(p) {
			return
		}
	}
}

// ownPost returns the transaction's own post with this iid that is in a queue, or nil.
func (s *Session) ownPost(queueName, iid string) (own *pending) {
	for p := range s.work.posts.With(iid) {
		if p.in(queueName) {
			own = p // the first of several
		}
	}
	return own
}

// ID returns the iid.
func (p *pending) ID() string { return p.iid }

// in reports whether the post is in the queue, as its session sees it.
func (p *pending) in(queueName string) bool {
	if p.purged || slices.Contains(p.taken, queueName) {
		return false
	}
	return slices.ContainsFunc(p.publish.Targets.Queues(), func(q *shard.Queue) bool { return q.Name == queueName })
}

// priority returns the priority of the post in a queue.
func (p *pending) priority(queueName string) uint8 {
	for _, q := range p.publish.Targets.Queues() {
		if q.Name == queueName {
			return min(p.publish.Priority, q.Policy().MaxPriority)
		}
	}
	return 0
}

// alive reports whether the post is in any queue whose messages can block others.
func (p *pending) alive() bool {
	return !p.purged && slices.ContainsFunc(p.publish.Targets.Queues(), func(q *shard.Queue) bool {
		return !q.Declared.Unawaited && !slices.Contains(p.taken, q.Name)
	})
}

// takeOwn takes a pending post from a queue.
func (s *Session) takeOwn(p *pending, queueName string) {
	p.taken = append(p.taken, queueName)
	s.work.add(&ownTake{p, queueName})
}

// failed converts an engine error to an error for the client.
func (s *Session) failed(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*pgerror.Error); ok {
		return e
	}
	return translate(err)
}
