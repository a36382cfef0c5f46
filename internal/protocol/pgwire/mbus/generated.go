package mbus

import (
	"math"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// function creates the function of a generated name.
func (g generated) function() *expr.Function {
	q, c := g.queue, g.consumer
	switch g.kind {
	case "post_":
		return commented(scalar(g.kind+q, postArgs(), value.Text,
			func(s *Session, env *expr.Env, a arguments) (value.Datum, error) { return s.postTo(env, q, a) }), "put a message into queue "+q)
	case "consume_":
		return commented(rows(g.kind+q+by+c, nil,
			func(s *Session, env *expr.Env, _ arguments) ([]value.Record, error) {
				return s.consume(env, q, c, 1, nil)
			}),
			"take a message from queue "+q)
	case "consumen_":
		return commented(rows(g.kind+q+by+c, []expr.Arg{arg("amt", value.Int4)},
			func(s *Session, env *expr.Env, a arguments) ([]value.Record, error) {
				return s.consumeSome(env, q, c, a)
			}),
			"take messages from queue "+q)
	case "take_from_":
		return commented(scalar(g.kind+q+by+c, []expr.Arg{arg("msgid", value.Text)}, value.QTModel,
			func(s *Session, env *expr.Env, a arguments) (value.Datum, error) { return s.takeFrom(env, q, c, a) }),
			"take this message from queue "+q)
	case "peek_":
		return commented(scalar(g.kind+q, []expr.Arg{optional("msgid", value.Text)}, value.Bool,
			func(s *Session, env *expr.Env, a arguments) (value.Datum, error) { return s.isThere(env, q, a) }),
			"whether queue "+q+" has this message, or any")
	case "clear_queue_":
		return commented(scalar(g.kind+q, nil, value.Void,
			func(s *Session, _ *expr.Env, _ arguments) (value.Datum, error) { return s.clear(q) }),
			"nothing to do: what expired or was received goes by itself")
	}
	return commented(scalar(g.kind+q, []expr.Arg{arg("exec", value.Text)}, value.Int4,
		func(s *Session, env *expr.Env, a arguments) (value.Datum, error) { return s.runOn(env, q, a.text(0)) }),
		"run a statement for each of up to 100 messages of queue "+q)
}

// consumeSome implements consumen_<q>_by_<c>. A NULL count means all messages.
func (s *Session) consumeSome(env *expr.Env, queueName, consumer string, a arguments) ([]value.Record, error) {
	n := int(a.integer(0))
	switch {
	case !a.has(0):
		n = math.MaxInt
	case n < 0:
		return nil, pgerror.New("2201W", "LIMIT must not be negative")
	}
	return s.consume(env, queueName, consumer, n, nil)
}

// clear implements clear_queue_<q>, which deletes expired messages and messages received by every
// consumer. The engine does that by itself, so clear only checks that the queue exists.
func (s *Session) clear(queueName string) (value.Datum, error) {
	if !s.isQueue(queueName) {
		return nil, noSuchQueue(queueName)
	}
	return void, nil
}
