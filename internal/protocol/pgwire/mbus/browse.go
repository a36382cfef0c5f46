package mbus

import (
	"iter"

	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

func browseFunctions() []*expr.Function {
	return []*expr.Function{{
		Name: "messages", Args: []expr.Arg{arg("qname", value.Text), defaulted("cname", defaultConsumer)}, Returns: value.QTModel,
		Volatility: expr.Volatile, Comment: "show the messages of a queue without taking any",
		Rows: func(env *expr.Env, a []value.Datum) iter.Seq2[[]value.Datum, error] {
			return func(yield func([]value.Datum, error) bool) {
				if err := of(env).browse(env, arguments(a), yield); err != nil {
					yield(nil, err)
				}
			}
		},
	}}
}

// browse passes the messages to yield until it returns false.
func (s *Session) browse(env *expr.Env, a arguments, yield func([]value.Datum, error) bool) error {
	src, err := s.sourceOf(a.text(0), a.text(1))
	if err != nil {
		return err
	}
	b, err := inspect.Browse(src.from, src.name)
	if err != nil {
		return s.failed(err)
	}
	for env.Ctx.Err() == nil {
		page, err := b.Next(64)
		if err != nil {
			return s.failed(err)
		}
		if len(page) == 0 {
			s.waiting(src.name, func(p *pending) bool { return yield(record(s.view(src.queue, 0, p.publish.Env, env), allColumns), nil) })
			return nil
		}
		for i := range page {
			m := &page[i]
			if s.holds(src.name, m) {
				continue
			}
			if !yield(record(s.view(src.queue, m.Handle, m.Env, env), allColumns), nil) {
				return nil
			}
		}
	}
	return env.Ctx.Err()
}
