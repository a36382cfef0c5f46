package mbus

import (
	"errors"
	"slices"
	"strings"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/routing"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
	"fiveways.dev/fiveways/internal/semaphores"
)

func triggerFunctions() []*expr.Function {
	return []*expr.Function{
		commented(scalar("create_trigger", []expr.Arg{arg("src", value.Text), arg("dst", value.Text), optional("selector", value.Text)},
			value.Void, (*Session).createTrigger), "copy what is posted to src into dst when the selector holds"),
		commented(scalar("drop_trigger", []expr.Arg{arg("src", value.Text), arg("dst", value.Text)}, value.Void, (*Session).dropTrigger),
			"copy no more from src to dst"),
	}
}

func (s *Session) createTrigger(env *expr.Env, a arguments) (value.Datum, error) {
	if err := s.mayChange("create_trigger"); err != nil {
		return nil, err
	}
	t := trigger{a.text(0), a.text(1), a.selector(2)}
	if t.Src == "" || t.Dst == "" {
		return nil, raise("Unknown queue:")
	}
	s.noticeMissing(env, "source", t.Src)
	s.noticeMissing(env, "destination", t.Dst)
	if slices.Contains(s.triggers(), t) {
		return void, nil
	}
	if err := s.mayTrigger(t); err != nil { // first: other errors would reveal existing triggers
		return nil, err
	}
	for _, have := range s.triggers() {
		if have.Src == t.Src && have.Dst == t.Dst {
			return nil, raise("Trigger from %s to %s with a different selector already exists!", t.Src, t.Dst)
		}
	}
	if err := s.checkTrigger(t); err != nil {
		return nil, err
	}
	if err := s.again(env.Ctx, triggerName(t.Src, t.Dst), "the trigger from "+t.Src+" to "+t.Dst); err != nil {
		return nil, err
	}
	d := s.edit()
	d.bindTrigger(t, "")
	d.setParameter(triggerName(t.Src, t.Dst), t)
	return void, d.make()
}

// mayTrigger checks the rights on both queues, whether or not they exist, because the trigger's
// bindings are created along with its queues.
func (s *Session) mayTrigger(t trigger) error {
	if err := s.own.MayConfigure("exchange", t.Dst); err != nil {
		return s.failed(err)
	}
	if _, err := s.rights(t.Dst, postFunction(t.Dst)); err != nil {
		return err
	}
	if err := s.mayCopyFrom(t.Src); err != nil {
		return err
	}
	spec := t.binding(true)
	return s.failed(s.own.MayBind(&spec))
}

// mayCopyFrom checks that the user may receive what is posted to a queue.
func (s *Session) mayCopyFrom(queueName string) error {
	_, err := s.rights(queueName, consumeFunction(queueName, defaultConsumer))
	return err
}

// noticeMissing notifies the client that a queue of a trigger does not exist. The trigger takes
// effect once the queue exists.
func (s *Session) noticeMissing(env *expr.Env, kind, queueName string) {
	if !s.isQueue(queueName) && (kind != "source" || queueName != semaphores.Exchange) {
		env.Notice(pgerror.Notice("WARNING: %s queue (%s) does not exists (yet?)", kind, queueName))
	}
}

// bindTrigger creates the trigger's binding if both queues exist. coming is a queue that is being
// created.
func (d *edit) bindTrigger(t trigger, coming string) {
	there := func(name string) bool { return name == coming || d.s.isQueue(name) }
	if !there(t.Dst) {
		return
	}
	switch {
	case t.Src == semaphores.Exchange: // not a queue, but the events of semaphores
		if !d.s.own.HasExchange(t.Src) { // as the first semaphore would
			d.do.DeclareExchange(catalog.ExchangeSpec{Name: t.Src, Type: routing.TypeTopic, Durable: true})
		}
	case !there(t.Src) || t.Src != coming && !d.s.own.HasExchange(t.Src):
		return
	}
	d.bind(t.binding(t.Dst == coming || d.s.own.HasExchange(t.Dst)))
}

// binding returns the binding of a trigger. If dst has an exchange, the binding leads there, so
// that the consumers and triggers of dst receive the copy too.
func (t trigger) binding(toExchange bool) catalog.BindSpec {
	args := append(selectorTable(t.Selector), message.Field{Name: triggerArg, Value: true})
	spec := catalog.BindSpec{Source: t.Src, Destination: t.Dst, ToExchange: toExchange, Args: args}
	if t.Src == semaphores.Exchange {
		spec.Key = "#" // every event of every semaphore
	}
	return spec
}

// checkTrigger rejects a trigger that closes a cycle from dst back to src, and an invalid selector.
func (s *Session) checkTrigger(t trigger) error {
	to := map[string][]string{}
	for _, have := range s.triggers() {
		to[have.Src] = append(to[have.Src], have.Dst)
	}
	seen := map[string]bool{t.Dst: true}
	for next := []string{t.Dst}; len(next) > 0; {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		if at == t.Src {
			return raise("Loop detected")
		}
		for _, q := range to[at] {
			if !seen[q] {
				seen[q] = true
				next = append(next, q)
			}
		}
	}
	if t.Selector == "" {
		return nil
	}
	_, err := compileSelector(t.Selector)
	var e *pgerror.Error
	if errors.As(err, &e) && strings.HasPrefix(e.Code, "42") {
		return raise("Syntax error in selector:%s", t.Selector)
	}
	return err
}

func (s *Session) dropTrigger(_ *expr.Env, a arguments) (value.Datum, error) {
	if err := s.mayChange("drop_trigger"); err != nil {
		return nil, err
	}
	for _, t := range s.triggers() {
		if t.Src != a.text(0) || t.Dst != a.text(1) || isTemporary(t.Dst) {
			continue
		}
		if err := s.mayTrigger(t); err != nil {
			return nil, err
		}
		s.hide([]string{triggerName(t.Src, t.Dst)}, func() error {
			var d broker.Definitions
			d.Unbind(t.binding(true))
			d.Unbind(t.binding(false)) // from before dst was an SQL queue
			d.DeleteParameter(component, triggerName(t.Src, t.Dst))
			return s.own.Define(&d)
		})
	}
	return void, nil
}
