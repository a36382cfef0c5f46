package mbus

import (
	"errors"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/hstore"
	"fiveways.dev/fiveways/internal/protocol/pgwire/mbus/localtime"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

func runFunctions() []*expr.Function {
	return []*expr.Function{
		commented(scalar("create_run_function", []expr.Arg{arg("qname", value.Text)}, value.Void,
			func(s *Session, _ *expr.Env, a arguments) (value.Datum, error) {
				if err := s.mayChange("create_run_function"); err != nil {
					return nil, err
				}
				name := a.text(0)
				if !s.isQueue(name) {
					return nil, raise("Queue %s does not exists!", name)
				}
				if err := s.own.MayConfigure("queue", name); err != nil {
					return nil, s.failed(err)
				}
				return void, s.set(runKind+name, struct{}{})
			}), "make run_on_<q>(exec), which runs a statement for each of up to 100 messages"),
	}
}

// runBatch is the number of messages that a run function takes at a time.
const runBatch = 100

// runOn runs a statement for each of up to runBatch messages, with the record as $1, and returns
// the number of successes. If the statement fails, its effects are undone and the message goes to
// the dead message queue.
func (s *Session) runOn(env *expr.Env, queueName, exec string) (value.Datum, error) {
	if s.Run == nil {
		return nil, pgerror.New(pgerror.FeatureNotSupported, "statements cannot be run here")
	}
	all, err := s.consume(env, queueName, defaultConsumer, runBatch, nil)
	if err != nil {
		return nil, err
	}
	defer func(outer bool) { s.running = outer }(s.running)
	s.running = true
	done := int64(0)
	for _, m := range all {
		mark := s.Savepoint()
		err := s.Run(env, exec, []*value.Type{value.QTModel}, []value.Datum{m}, nil)
		if err == nil {
			done++
			continue
		}
		if env.Ctx.Err() != nil || !isOfClient(err) {
			return nil, err
		}
		s.RollbackTo(mark)
		if err := s.bury(env, m, err); err != nil {
			return nil, err
		}
	}
	return done, nil
}

// isOfClient reports whether a statement failed for reasons of its own, and not because the broker
// or the session is ending.
func isOfClient(err error) bool {
	var e *pgerror.Error
	return !errors.As(err, &e) || e.Severity != "FATAL" && e.Code != pgerror.AdminShutdown && e.Code != pgerror.QueryCanceled
}

// bury moves a message that could not be processed to the dead message queue. It keeps its iid, so
// that messages that depend on it stay blocked.
func (s *Session) bury(env *expr.Env, m value.Record, cause error) error {
	if err := s.makeDead(env.Ctx); err != nil {
		return err
	}
	headers, _ := m[colHeaders].(hstore.Map)
	now := localtime.At(env.Now, env.Settings.Zone)
	p := posting{
		exchange: deadQueue, queue: deadQueue, iid: m[colIID].(string), verbatim: true, now: now, settings: &env.Settings,
		headers: headers.Concat(hstore.New([]hstore.Pair{
			{Key: "dmq.added", Value: string(localtime.Append(nil, now))}, {Key: "dmq.error", Value: cause.Error()},
		})),
		noData: m[colData] == nil, noProperties: m[colProperties] == nil,
	}
	p.data, _ = m[colData].(hstore.Map)
	p.properties, _ = m[colProperties].(hstore.Map)
	p.delayed, p.hasDelayed = m[colDelayed].(temporal.Timestamp)
	p.expires, p.hasExpires = m[colExpires].(temporal.Timestamp)
	var source *shard.Loan
	for h := range s.work.held.With(p.iid) {
		if int64(h.handle) == m[colID] {
			source = &shard.Loan{Queue: h.queue, Handle: h.handle}
		}
	}
	return s.send(s.own, &p, source)
}
