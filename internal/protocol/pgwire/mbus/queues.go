package mbus

import (
	"strings"

	"fiveways/internal/broker"
	"fiveways/internal/core/message"
	"fiveways/internal/core/routing"
	"fiveways/internal/protocol/pgwire/pgerror"
	"fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways/internal/protocol/pgwire/sql/value"
)

// void is what a function gives that gives nothing.
const void = ""

func queueFunctions() []*expr.Function {
	return []*expr.Function{
		commented(scalar("create_queue", []expr.Arg{
			arg("qname", value.Text), arg("consumers_cnt", value.Int4),
			optional("is_roles_security_model", value.Bool),
		}, value.Void, (*Session).createQueue), "make a queue with the consumer default, and the functions post_<q>, consume_<q>_by_default, ..."),
		commented(scalar("drop_queue", []expr.Arg{arg("qname", value.Text)}, value.Void, (*Session).dropQueue),
			"drop a queue with its messages, consumers, triggers and views"),
	}
}

// queuePolicy is that of all queues that SQL makes.
func queuePolicy() broker.QueuePolicy {
	p := broker.DefaultQueuePolicy()
	p.ConsumeAfter = true
	return p
}

// queueArgs show the policy to who looks at the queue by AMQP.
func queueArgs() message.Table { return message.Table{{Name: "x-consume-after", Value: true}} }

func (s *Session) createQueue(_ *expr.Env, a arguments) (value.Datum, error) {
	name := a.text(0)
	if err := checkName(name); err != nil {
		return nil, err
	}
	def := queueDef{Consumers: int(a.integer(1)), Roles: a.boolean(2), Owner: s.user}
	return void, s.makeQueue(name, def)
}

// makeQueue makes a queue of the engine for the consumer default, an exchange of the same name that feeds it, and the parameter that says so.
// What is there stays.
func (s *Session) makeQueue(name string, def queueDef) error {
	if err := s.mayChange("create_queue"); err != nil {
		return err
	}
	if s.hidden(queueKind + name) {
		return pgerror.New(pgerror.FeatureNotSupported, "queue \"%s\" was dropped in this transaction", name).
			WithHint("Commit before the queue is made again.")
	}
	if _, ok := s.sqlQueue(name); ok {
		return nil
	}
	if err := s.declareQueue(name); err != nil {
		return err
	}
	if err := s.declareExchange(name); err != nil {
		return err
	}
	if err := s.bind(broker.BindSpec{Source: name, Destination: name}); err != nil {
		return err
	}
	if err := s.set(queueKind+name, def); err != nil {
		return err
	}
	for _, t := range s.triggers() {
		if t.Src == name || t.Dst == name {
			if err := s.bindTrigger(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// declareQueue makes a durable queue of the engine if it is not there.
func (s *Session) declareQueue(name string) error {
	if s.own.HasQueue(name) {
		return nil
	}
	_, err := s.own.DeclareQueue(broker.QueueSpec{Name: name, Durable: true, Args: queueArgs(), Policy: queuePolicy()})
	if err != nil {
		return s.failed(err)
	}
	s.change(step{undo: func() { s.own.DeleteQueue(name, false, false) }}) //nolint:errcheck // a rollback has nobody to tell
	return nil
}

func (s *Session) declareExchange(name string) error {
	if s.own.HasExchange(name) {
		return nil
	}
	err := s.own.DeclareExchange(broker.ExchangeSpec{Name: name, Type: routing.TypeFanout, Durable: true})
	if err != nil {
		return s.failed(err)
	}
	s.change(step{undo: func() { s.own.DeleteExchange(name, false) }}) //nolint:errcheck // a rollback has nobody to tell
	return nil
}

func (s *Session) bind(spec broker.BindSpec) error {
	if err := s.own.Bind(spec); err != nil {
		return s.failed(err)
	}
	s.change(step{undo: func() { s.own.Unbind(spec) }}) //nolint:errcheck // a rollback has nobody to tell
	return nil
}

func (s *Session) dropQueue(_ *expr.Env, a arguments) (value.Datum, error) {
	name := a.text(0)
	if err := s.mayChange("drop_queue"); err != nil {
		return nil, err
	}
	_, made := s.sqlQueue(name)
	if !made && !s.isQueue(name) {
		return nil, noSuchQueue(name)
	}
	if err := s.own.MayConfigure("queue", name); err != nil {
		return nil, s.failed(err)
	}
	all := []string{queueKind + name, runKind + name}
	queues := []string{name}
	if made {
		for _, c := range s.subscribers(name)[1:] {
			queues = append(queues, consumerQueue(name, c.name))
			all = append(all, consumerKind+consumerQueue(name, c.name))
		}
	}
	for view, v := range s.known().views {
		if v.Queue == name {
			all = append(all, viewKind+view)
		}
	}
	for _, t := range s.triggers() {
		if t.Src == name || t.Dst == name {
			all = append(all, triggerName(t.Src, t.Dst))
		}
	}
	s.hide(all, func() error { return s.removeQueue(name, made, queues, all) })
	return void, nil
}

// removeQueue drops what makeQueue made and what was added since. The parameter of the queue goes last, so that a drop that was cut short can
// be done again.
func (s *Session) removeQueue(name string, made bool, queues, parameters []string) error {
	if made {
		if err := s.own.DeleteExchange(name, false); err != nil {
			return err
		}
	}
	for _, q := range queues {
		if _, err := s.own.DeleteQueue(q, false, false); err != nil {
			return err
		}
	}
	for i := len(parameters) - 1; i >= 0; i-- {
		p := parameters[i]
		if !strings.HasPrefix(p, consumerKind) {
			if err := s.b.DeleteParameter(s.vhost(), component, p); err != nil {
				return err
			}
		}
	}
	return nil
}

func noSuchQueue(name string) error { return raise("Queue %s does not exists", name) }
