package mbus

import (
	"cmp"
	"context"
	"strings"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

func consumerFunctions() []*expr.Function {
	return []*expr.Function{
		commented(scalar("create_consumer", []expr.Arg{
			arg("qname", value.Text), arg("cname", value.Text), optional("selector", value.Text),
			{Name: "noindex", Type: value.Bool, HasDefault: true, Default: false, DefaultSQL: "false"},
		}, value.Void, (*Session).createConsumer), "make a subscriber that gets a copy of each message its selector admits, from now on"),
		commented(scalar("drop_consumer", []expr.Arg{arg("cname", value.Text), arg("qname", value.Text)}, value.Void, (*Session).dropConsumer),
			"drop a subscriber with its messages"),
	}
}

// inOrder returns the names of a queue and a consumer, which may be given in either order. first is
// the queue, unless only second is an existing queue.
func (s *Session) inOrder(first, second string) (queueName, consumer string) {
	if !s.isQueue(first) && s.isQueue(second) {
		return second, first
	}
	return first, second
}

func (s *Session) createConsumer(env *expr.Env, a arguments) (value.Datum, error) {
	if err := s.mayChange("create_consumer"); err != nil {
		return nil, err
	}
	queueName, consumer := s.inOrder(a.text(0), a.text(1))
	if _, ok := s.sqlQueue(queueName); !ok {
		return nil, raise("Wrong queue name:%s", queueName)
	}
	if checkName(consumer) != nil {
		return nil, raise("Wrong consumer name:%s", consumer)
	}
	selector := a.selector(2)
	name := consumerQueue(queueName, consumer)
	there, taken := s.sameConsumer(env.Ctx, queueName, consumer, selector)
	if there && taken == nil {
		return void, nil
	}
	if err := s.own.MayConfigure("queue", name); err != nil { // first: other errors would reveal existing consumers
		return nil, s.failed(err)
	}
	if taken != nil {
		return nil, taken
	}
	if selector != "" {
		if _, err := compileSelector(selector); err != nil {
			return nil, err
		}
	}
	if err := s.endRoles(consumeFunction(queueName, consumer)); err != nil {
		return nil, s.failed(err)
	}
	d := s.edit()
	d.declareQueue(name)
	d.bind(catalog.BindSpec{Source: queueName, Destination: name, Args: selectorTable(selector)})
	if err := d.make(); err != nil {
		return nil, err
	}
	if a.boolean(3) { // no index is needed here, but mbus4 clients expect the notice
		env.Notice(pgerror.Notice("You must create index qt$%s_for_%s on mbus4.qt$%s(added, delayed_until) WHERE (%s)", queueName, consumer, queueName,
			cmp.Or(selector, "1=1")))
	}
	return void, nil
}

// selector returns a selector argument. A blank selector counts as none.
func (a arguments) selector(i int) string {
	if !a.has(i) || strings.TrimSpace(a.text(i)) == "" {
		return ""
	}
	return a.text(i)
}

// selectorTable returns the binding arguments for a selector.
func selectorTable(selector string) message.Table {
	if selector == "" {
		return nil
	}
	return message.Table{{Name: selectorArg, Value: selector}}
}

// sameConsumer reports whether the consumer exists already. A different consumer of the same name
// is an error.
func (s *Session) sameConsumer(ctx context.Context, queueName, consumer, selector string) (there bool, err error) {
	for _, q := range s.sqlQueues() {
		for _, have := range s.subscribers(q) {
			switch {
			case have.name != consumer:
			case q != queueName && consumer != defaultConsumer:
				return false, raise("Consumer with identical name (%s) and different queue already exists!", consumer)
			case q == queueName && have.selector != selector:
				return false, raise("Consumer with identical name (%s) and different selector already exists!", consumer)
			case q == queueName:
				there = true
			}
		}
	}
	return there, s.again(ctx, consumerKind+consumerQueue(queueName, consumer), "consumer \""+consumer+"\"")
}

func (s *Session) dropConsumer(_ *expr.Env, a arguments) (value.Datum, error) {
	if err := s.mayChange("drop_consumer"); err != nil {
		return nil, err
	}
	queueName, consumer := s.inOrder(a.text(1), a.text(0))
	if _, ok := s.sqlQueue(queueName); !ok {
		return nil, noSuchQueue(queueName)
	}
	if consumer == defaultConsumer {
		return nil, raise("the default consumer of queue %s cannot be dropped; drop_queue drops the queue", queueName)
	}
	name := consumerQueue(queueName, consumer)
	if !s.isConsumer(queueName, consumer) {
		return nil, unknownConsumer(consumer)
	}
	if err := s.mayRemove(name, false, []string{name}); err != nil {
		return nil, err
	}
	s.hide([]string{consumerKind + name}, func() error { return s.removeQueue(name, false, []string{name}, nil) })
	return void, nil
}

func unknownConsumer(name string) error { return raise("unknown consumer:%s", name) }
