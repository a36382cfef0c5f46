package mbus

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/broker/loans"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

func lookFunctions() []*expr.Function {
	return []*expr.Function{
		commented(scalar("peek", []expr.Arg{arg("msgid", value.Text)}, value.QTModel, (*Session).peek), "show this message; NULL: there is none"),
		commented(scalar("take", []expr.Arg{arg("msgid", value.Text)}, value.QTModel, (*Session).take),
			"take this message from all consumers of its queue; waits while it is held; NULL: there is none"),
		commented(scalar("is_msg_exists", []expr.Arg{arg("iid", value.Text)}, value.Bool,
			func(s *Session, _ *expr.Env, a arguments) (value.Datum, error) {
				if !a.has(0) {
					return false, nil
				}
				return s.knowsOf(a.text(0))
			}), "whether this message is in any queue that you may consume from"),
		commented(scalar("estimated_messages", []expr.Arg{arg("qname", value.Text)}, value.Int8,
			(*Session).estimate), "how many messages a queue has for its consumer default"),
	}
}

// found is the result of a search: an engine message, or a post of the transaction itself.
type found struct {
	m    inspect.Message
	post *pending
}

// envelope returns the message that was found.
func (f *found) envelope() message.Envelope {
	if f.post != nil {
		return f.post.publish.Env
	}
	return f.m.Env
}

// find searches an engine queue, as the session sees it, for a message with the given iid.
func (s *Session) find(from *broker.Session, queueName, iid string) (f found, ok bool, err error) {
	if f.post = s.ownPost(queueName, iid); f.post != nil {
		return f, true, nil
	}
	switch place, h, isPlace := placeOf(iid); {
	case isPlace && place == queueName:
		f.m, ok, err = findAt(from, queueName, h)
		ok = ok && !s.holds(queueName, &f.m)
	case !s.holdsID(queueName, iid):
		f.m, ok, err = inspect.Find(from, queueName, iid)
	}
	return f, ok, s.failed(err)
}

// findAt returns the message at a position.
func findAt(from *broker.Session, queueName string, h queue.Handle) (m inspect.Message, ok bool, err error) {
	b, err := inspect.Browse(from, queueName)
	if err != nil {
		return m, false, err
	}
	b.After(h - 1)
	page, err := b.Next(1)
	if err != nil || len(page) == 0 || page[0].Handle != h {
		return m, false, err
	}
	return page[0], true, nil
}

// holds reports whether the transaction has taken a message of a queue.
func (s *Session) holds(queueName string, m *inspect.Message) bool {
	if s.work.held.Len() == 0 {
		return false
	}
	for h := range s.work.held.With(cmp.Or(messageID(m.Env), placeID(queueName, m.Handle))) {
		if h.handle == m.Handle && h.queue.Name == queueName {
			return true
		}
	}
	return false
}

// placeOf returns the position of a message without an id, from its iid.
func placeOf(iid string) (queueName string, h queue.Handle, ok bool) {
	at := strings.LastIndex(iid, placeMark)
	if at < 0 {
		return "", 0, false
	}
	n, err := strconv.ParseUint(iid[at+len(placeMark):], 10, 64)
	return iid[:at], queue.Handle(n), err == nil
}

// findIn searches the queues of all consumers of a queue.
func (s *Session) findIn(from *broker.Session, queueName, iid string) (f found, ok bool, err error) {
	for _, c := range s.subscribers(queueName) {
		if f, ok, err = s.find(from, consumerQueue(queueName, c.name), iid); ok || err != nil {
			return f, ok, err
		}
	}
	return f, false, nil
}

// isThere implements peek_<q>.
func (s *Session) isThere(_ *expr.Env, queueName string, a arguments) (value.Datum, error) {
	src, err := s.sourceOf(queueName, defaultConsumer)
	if err != nil {
		return nil, err
	}
	if a.has(0) && a.text(0) == "" {
		return false, nil
	}
	if err := src.from.MayRead(src.name); err != nil { // find does not check this for the transaction's own posts
		return nil, s.failed(err)
	}
	if !a.has(0) {
		return s.hasAny(src.from, src.queue)
	}
	_, ok, err := s.findIn(src.from, src.queue, a.text(0))
	return ok, err
}

// hasAny reports whether any consumer of a queue has a message.
func (s *Session) hasAny(from *broker.Session, queueName string) (bool, error) {
	for _, c := range s.subscribers(queueName) {
		name := consumerQueue(queueName, c.name)
		if _, err := inspect.Browse(from, name); err != nil { // it checks what from may see
			return false, s.failed(err)
		}
		if n, err := s.count(name); n > 0 || err != nil {
			return n > 0, err
		}
	}
	return false, nil
}

// homes returns the queues to search for a message by its iid alone: the queue that the iid names,
// and the dead message queue. If the iid names the dead message queue, it returns all queues,
// because the message could be posted to any with that iid. It does not return queues that hold
// trigger copies.
func (s *Session) homes(iid string) []string {
	home, _, _ := strings.Cut(iid, ".")
	if name, _, ok := placeOf(iid); ok {
		home = name
	}
	all := []string{home}
	if home != deadQueue {
		return append(all, deadQueue)
	}
	return append(all, slices.DeleteFunc(s.sqlQueues(), func(q string) bool { return q == deadQueue })...)
}

// atHome calls fn for each existing home queue that the user may consume from, until fn returns
// true or an error.
func (s *Session) atHome(iid string, fn func(src source) (done bool, err error)) error {
	for i, home := range s.homes(iid) {
		if !s.isQueue(home) {
			continue
		}
		src, err := s.sourceOf(home, defaultConsumer)
		if err == nil {
			if err = src.from.MayRead(home); err != nil {
				err = s.failed(err)
			}
		}
		if err != nil && i > 0 {
			continue // not the queue that the iid names
		}
		if err != nil {
			return err
		}
		if done, err := fn(src); done || err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) peek(env *expr.Env, a arguments) (row value.Datum, err error) {
	if !a.has(0) || a.text(0) == "" {
		return nil, nil
	}
	err = s.atHome(a.text(0), func(src source) (bool, error) {
		f, ok, err := s.findIn(src.from, src.queue, a.text(0))
		if ok {
			row = record(s.view(src.queue, f.m.Handle, f.envelope(), env), allColumns)
		}
		return ok, err
	})
	return row, err
}

// take takes a message from all consumers of its queue.
func (s *Session) take(env *expr.Env, a arguments) (row value.Datum, err error) {
	if err := s.mayChange("take"); err != nil || !a.has(0) {
		return nil, err
	}
	err = s.atHome(a.text(0), func(src source) (bool, error) {
		for _, c := range s.subscribers(src.queue) {
			one := source{src.from, src.queue, consumerQueue(src.queue, c.name)}
			got, err := s.takeOne(env, one, a.text(0))
			if err != nil {
				return false, err
			}
			if row == nil {
				row = got
			}
		}
		return row != nil, nil
	})
	return row, err
}

// takeFrom implements take_from_<q>_by_<c>.
func (s *Session) takeFrom(env *expr.Env, queueName, consumer string, a arguments) (value.Datum, error) {
	if err := s.mayChange("take"); err != nil {
		return nil, err
	}
	src, err := s.sourceOf(queueName, consumer)
	if err != nil || !a.has(0) {
		return nil, err
	}
	return s.takeOne(env, src, a.text(0))
}

// takeOne takes a message by its iid, and waits while another transaction holds it. It returns nil
// if there is no such message.
func (s *Session) takeOne(env *expr.Env, src source, iid string) (value.Datum, error) {
	own := s.ownPost(src.name, iid)
	switch {
	case own != nil:
		if err := src.from.MayRead(src.name); err != nil {
			return nil, s.failed(err)
		}
		s.takeOwn(own, src.name)
		return record(s.taken(src.queue, 0, own.publish.Env, env), allColumns), nil
	case iid == "" || s.holdsID(src.name, iid):
		return nil, nil
	}
	var (
		d   shard.Delivery
		ok  bool
		err error
	)
	if q, h, isPlace := placeOf(iid); isPlace && q == src.name {
		d, ok, err = loans.Acquire(env.Ctx, src.from, src.name, h, &s.tx)
	} else {
		d, ok, err = loans.AcquireByID(env.Ctx, src.from, src.name, iid, &s.tx)
	}
	if ok && env.Ctx.Err() != nil { // it was lent just before the end of the statement
		s.letGo([]shard.Delivery{d})
		ok = false
	}
	if err != nil || !ok {
		return nil, s.waitFailed(env.Ctx, err)
	}
	s.hold(new(held), &d)
	return record(s.taken(src.queue, d.Handle, d.Env, env), allColumns), nil
}

// estimate returns the number of messages in a queue that the consumer default has not received.
func (s *Session) estimate(env *expr.Env, a arguments) (value.Datum, error) {
	name := s.named(a.text(0))
	if !s.isQueue(name) {
		env.Notice(pgerror.Notice("Requested queue '%s' does not exists", a.text(0)))
		return nil, nil
	}
	n, err := s.count(name)
	if err != nil {
		return nil, err
	}
	return n, nil
}

// count returns the number of messages in an engine queue, as the session sees it.
func (s *Session) count(queueName string) (int64, error) {
	st, err := inspect.Queue(s.own, queueName)
	n := int64(st.Ready+st.Unacked+st.Scheduled+st.Blocked) - s.work.heldIn[queueName]
	s.waiting(queueName, func(*pending) bool { n++; return true })
	return n, s.failed(err)
}
