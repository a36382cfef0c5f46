package mbus

import (
	"context"
	"encoding/json"
	"strings"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/routing"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// void is the result of a function that returns nothing.
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

// queuePolicy returns the policy of all queues created by SQL.
func queuePolicy() catalog.QueuePolicy {
	p := catalog.DefaultQueuePolicy()
	p.ConsumeAfter = true
	return p
}

// queueArgs returns the arguments that show the policy to AMQP clients.
func queueArgs() message.Table { return message.Table{{Name: orderedArg, Value: true}} }

// orderedArg is the argument of queues with message dependencies (consume_after).
const orderedArg = "x-consume-after"

func (s *Session) createQueue(env *expr.Env, a arguments) (value.Datum, error) {
	name := a.text(0)
	if err := checkName(name); err != nil {
		return nil, err
	}
	def := queueDef{Consumers: int(a.integer(1)), Roles: a.boolean(2), Owner: s.user}
	return void, s.makeQueue(env.Ctx, name, def)
}

// makeQueue creates an engine queue for the consumer default, an exchange of the same name that
// feeds it, and the parameter that defines it. Existing objects are kept.
func (s *Session) makeQueue(ctx context.Context, name string, def queueDef) error {
	if err := s.mayChange("create_queue"); err != nil {
		return err
	}
	if err := s.again(ctx, queueKind+name, "queue \""+name+"\""); err != nil {
		return err
	}
	if _, ok := s.sqlQueue(name); ok && s.own.HasQueue(name) && s.own.HasExchange(name) { // other clients may have deleted either
		return nil
	}
	if err := s.mayRemove(name, true, []string{name}); err != nil { // an AMQP queue or exchange may have the name
		return err
	}
	if def.Roles {
		if err := s.endRoles(postFunction(name), consumeFunction(name, defaultConsumer)); err != nil {
			return s.failed(err)
		}
	}
	d := s.edit()
	d.unlessUsed = name
	d.declareQueue(name)
	if !s.own.HasExchange(name) {
		d.do.DeclareExchange(catalog.ExchangeSpec{Name: name, Type: routing.TypeFanout, Durable: true})
		d.undo.DeleteExchange(name)
	}
	d.bind(catalog.BindSpec{Source: name, Destination: name})
	d.setParameter(queueKind+name, def)
	for _, t := range s.triggers() {
		if t.Src == name || t.Dst == name {
			d.bindTrigger(t, name)
		}
	}
	return d.make()
}

// edit is a set of changes of the definitions that are made together, with their reversal.
type edit struct {
	s          *Session
	do, undo   broker.Definitions
	unlessUsed string // a queue: nothing is undone if it has messages, which others have committed
}

func (s *Session) edit() *edit { return &edit{s: s} }

// make applies the changes. A rollback of the transaction reverts them.
func (d *edit) make() error {
	if err := d.s.own.Define(&d.do); err != nil {
		return d.s.failed(err)
	}
	d.s.change(step{undo: d.takeBack})
	return nil
}

func (d *edit) takeBack() {
	if d.unlessUsed != "" {
		if st, err := inspect.Queue(d.s.own, d.unlessUsed); err == nil && st.Ready+st.Unacked+st.Scheduled+st.Blocked > 0 {
			return
		}
	}
	d.s.own.Define(&d.undo) //nolint:errcheck // a rollback cannot report errors
}

// declareQueue creates a durable engine queue if it does not exist.
func (d *edit) declareQueue(name string) {
	if d.s.own.HasQueue(name) {
		return
	}
	d.do.DeclareQueue(catalog.QueueSpec{Name: name, Durable: true, Args: queueArgs(), Policy: queuePolicy()})
	d.undo.DeleteQueue(name)
}

func (d *edit) bind(spec catalog.BindSpec) {
	d.do.Bind(spec)
	d.undo.Unbind(spec)
}

// setParameter sets a parameter of the virtual host.
func (d *edit) setParameter(name string, v any) {
	d.do.SetParameter(component, name, textOf(v))
	if before, had := d.s.b.Parameter(d.s.vhost(), component, name); had {
		d.undo.SetParameter(component, name, before.Value)
	} else {
		d.undo.DeleteParameter(component, name)
	}
}

// textOf returns the value of a parameter.
func textOf(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // cannot happen: all values are plain structs
	}
	return text
}

func (s *Session) dropQueue(_ *expr.Env, a arguments) (value.Datum, error) {
	name := a.text(0)
	if err := s.mayChange("drop_queue"); err != nil {
		return nil, err
	}
	_, made := s.sqlQueue(name)
	if !made && !s.isQueue(name) || isTemporary(name) {
		return nil, noSuchQueue(name)
	}
	all := []string{queueKind + name, runKind + name}
	queues := []string{name}
	if made {
		for _, c := range s.subscribers(name)[1:] {
			queues = append(queues, consumerQueue(name, c.name))
			all = append(all, consumerKind+consumerQueue(name, c.name))
		}
	}
	if err := s.mayRemove(name, made, queues); err != nil {
		return nil, err
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

// mayRemove returns an error if removeQueue would fail, which at the commit would be too late.
func (s *Session) mayRemove(name string, made bool, queues []string) error {
	for _, q := range queues {
		if err := s.own.MayConfigure("queue", q); err != nil {
			return s.failed(err)
		}
	}
	if !made {
		return nil
	}
	return s.failed(s.own.MayConfigure("exchange", name))
}

// removeQueue drops what makeQueue created and everything added since.
func (s *Session) removeQueue(name string, made bool, queues, parameters []string) error {
	if err := s.endMemberships(queues); err != nil { // first: a crash in between must not grant access
		return err
	}
	var d broker.Definitions
	if made {
		d.DeleteExchange(name)
	}
	for _, q := range queues {
		d.DeleteQueue(q)
	}
	for _, p := range parameters {
		if !strings.HasPrefix(p, consumerKind) {
			d.DeleteParameter(component, p)
		}
	}
	return s.own.Define(&d)
}

func noSuchQueue(name string) error { return raise("Queue %s does not exists", name) }
