package mbus

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/loans"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/protocol/pgwire/mbus/localtime"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

func consumeFunctions() []*expr.Function {
	return []*expr.Function{
		commented(rows("consume", []expr.Arg{arg("qname", value.Text), defaulted("cname", defaultConsumer)},
			(*Session).consumeFrom),
			"take a message from a queue, if there is one"),
		commented(rows("dyn_consume", []expr.Arg{arg("qname", value.Text), defaulted("selector", "(1=1)"), defaulted("cname", defaultConsumer)},
			(*Session).dynConsume), "take a message that a selector given now admits"),
	}
}

// source is an engine queue to read from.
type source struct {
	from  *broker.Session // the session whose rights apply
	queue string          // the SQL queue
	name  string          // the engine queue
}

// sourceOf returns the queue that a consumer reads, and checks that the user may read it.
func (s *Session) sourceOf(queueName, consumer string) (src source, err error) {
	name, consumer := s.named(queueName), strings.ToLower(consumer)
	if !s.isQueue(name) || !s.isConsumer(name, consumer) {
		return src, s.noConsumer(queueName, consumer)
	}
	from, err := s.rights(name, consumeFunction(name, consumer))
	return source{from, name, consumerQueue(name, consumer)}, err
}

// noConsumer returns the error for a missing queue or consumer.
func (s *Session) noConsumer(queueName, consumer string) error {
	queues := slices.DeleteFunc(s.sqlQueues(), func(q string) bool { return q == deadQueue })
	switch {
	case s.isQueue(s.named(queueName)):
		return raise("unknown consumer:%s", consumer)
	case len(queues) == 0:
		return raise("No queues were defined")
	}
	return noSuchQueue(queueName)
}

func (s *Session) consume(env *expr.Env, queueName, consumer string, n int, keep *selector) ([]value.Record, error) {
	if err := s.mayChange("consume"); err != nil {
		return nil, err
	}
	src, err := s.sourceOf(queueName, consumer)
	if err != nil {
		return nil, err
	}
	return s.fetch(src, env, n, keep)
}

// consumeFrom implements consume(). A missing temporary queue or dead message queue counts as
// empty.
func (s *Session) consumeFrom(env *expr.Env, a arguments) ([]value.Record, error) {
	name := s.named(a.text(0))
	if !s.isQueue(name) && (isTemporary(name) || name == deadQueue) {
		return nil, nil
	}
	return s.consume(env, a.text(0), a.text(1), 1, nil)
}

func (s *Session) dynConsume(env *expr.Env, a arguments) ([]value.Record, error) {
	name := s.named(a.text(0))
	if !s.isQueue(name) || !s.isConsumer(name, strings.ToLower(a.text(2))) {
		return nil, raise("Consumer %s does not exists!", a.text(2))
	}
	var keep *selector
	if text := a.selector(1); text != "" {
		var err error
		if keep, err = s.selector(text); err != nil {
			return nil, err
		}
	}
	return s.consume(env, name, a.text(2), 1, keep)
}

// fetch takes up to n messages, in the order in which they were added.
func (s *Session) fetch(src source, env *expr.Env, n int, keep *selector) ([]value.Record, error) {
	if n <= 0 {
		return nil, nil
	}
	var wanted func(message.Envelope) bool
	if keep != nil {
		wanted = func(m message.Envelope) bool { // once the statement is canceled, any message ends the search
			return env.Ctx.Err() != nil || keep.holds(s.view(src.queue, 0, m, env), env)
		}
	}
	lent, err := s.freed(src, n, wanted)
	if err != nil {
		return nil, s.failed(err)
	}
	more, err := loans.FetchWithin(env.Ctx, src.from, src.name, n, s.most, wanted)
	lent = append(lent, more...)
	if err != nil || env.Ctx.Err() != nil {
		s.letGo(lent)
		return nil, s.waitFailed(env.Ctx, err)
	}
	all := make([]received, len(lent))
	table := make(value.Record, len(lent)*columns)
	var v viewed
	for i := range lent {
		row := table[i*columns : (i+1)*columns : (i+1)*columns]
		s.see(&v, src.queue, lent[i].Handle, lent[i].Env, env)
		v.taken = true
		v.fill(row, allColumns)
		all[i] = received{row: row, priority: lent[i].Handle.Priority(), lent: &lent[i]}
	}
	if s.work.posts.Len() > 0 {
		all = append(all, s.ownMessages(src, env, n, keep)...)
	}
	if len(all) > 1 {
		slices.SortStableFunc(all, received.compare)
	}
	return s.keepFirst(src, all, n), nil
}

// freed takes messages that are blocked only by messages that the transaction itself has taken. For
// the transaction, those no longer exist.
func (s *Session) freed(src source, n int, keep func(message.Envelope) bool) (lent []shard.Delivery, err error) {
	if s.work.held.Len() == 0 {
		return nil, nil
	}
	if keep != nil {
		n = math.MaxInt // the first ones may not match keep
	}
	all, err := loans.AcquireUnblocked(src.from, src.name, n, s.loans)
	for i := range all {
		if keep == nil || keep(all[i].Env) {
			lent = append(lent, all[i])
		} else {
			s.letGo(all[i : i+1])
		}
	}
	return lent, err
}

// letGo returns lent messages to their queues.
func (s *Session) letGo(all []shard.Delivery) {
	for i := range all {
		s.own.Release(all[i].Queue, all[i].Handle, 1)
	}
	s.own.Flush()
}

// loans returns the messages that the transaction holds.
func (s *Session) loans() (all []shard.Loan) {
	for _, h := range s.work.held.All() {
		all = append(all, h.loan())
	}
	return all
}

// received is a message found by a fetch: either lent by the engine, or a pending post of the
// transaction itself.
type received struct {
	row      value.Record
	priority uint8 // in its queue
	lent     *shard.Delivery
	own      *pending
}

func (r received) compare(other received) int {
	if r.priority != other.priority {
		return cmp.Compare(other.priority, r.priority)
	}
	for _, column := range []int{colAdded, colDelayed} {
		a, _ := r.row[column].(temporal.Timestamp)
		b, _ := other.row[column].(temporal.Timestamp)
		if a != b {
			return cmp.Compare(a, b)
		}
	}
	return 0
}

// ownMessages returns the transaction's own posts that it could receive, or only the first n if
// they are in posting order.
func (s *Session) ownMessages(src source, env *expr.Env, n int, keep *selector) (all []received) {
	now := time.Now().UnixMilli()
	inOrder := true
	s.waiting(src.name, func(p *pending) bool {
		inOrder = p.publish.Order == nil && p.priority(src.name) == 0
		return inOrder
	})
	s.waiting(src.name, func(p *pending) bool {
		if s.ready(p, now) && (keep == nil || keep.holds(s.view(src.queue, 0, p.publish.Env, env), env)) {
			all = append(all, received{record(s.taken(src.queue, 0, p.publish.Env, env), allColumns), p.priority(src.name), nil, p})
		}
		return !inOrder || len(all) < n
	})
	return all
}

// keepFirst takes the first n messages. Other messages that were lent return to their places.
func (s *Session) keepFirst(src source, all []received, n int) []value.Record {
	rows := make([]value.Record, 0, min(n, len(all)))
	holds := make([]held, min(n, len(all)))
	for i, r := range all {
		switch {
		case i >= n && r.lent != nil:
			s.own.Release(r.lent.Queue, r.lent.Handle, 1)
			continue
		case i >= n:
			continue
		case r.lent != nil:
			s.hold(&holds[i], r.lent)
		default:
			s.takeOwn(r.own, src.name)
		}
		rows = append(rows, r.row)
	}
	if len(all) > n {
		s.own.Flush()
	}
	return rows
}

// view returns a message as the session reads it.
func (s *Session) view(queueName string, h queue.Handle, m message.Envelope, env *expr.Env) *viewed {
	v := new(viewed)
	s.see(v, queueName, h, m, env)
	return v
}

// see is view into an existing struct.
func (s *Session) see(v *viewed, queueName string, h queue.Handle, m message.Envelope, env *expr.Env) {
	*v = viewed{queue: queueName, database: s.database, handle: h, zone: env.Settings.Zone, now: localtime.At(env.Now, env.Settings.Zone)}
	v.exchange, v.key, v.props, v.body = m.Split()
}

// taken returns a message that the session receives.
func (s *Session) taken(queueName string, h queue.Handle, m message.Envelope, env *expr.Env) *viewed {
	v := s.view(queueName, h, m, env)
	v.taken = true
	return v
}
