package broker

import (
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"fiveways/internal/core/routing"
)

// Definitions are changes of what is defined in a virtual host. They are collected in an order in which each can build on those before
// it, and happen together or not at all: Session.Define.
type Definitions struct{ steps []func(*edit) error }

func (d *Definitions) add(step func(*edit) error) { d.steps = append(d.steps, step) }

// DeclareQueue adds a queue, which must be the same if it is there. A passive declaration asks whether it is there.
func (d *Definitions) DeclareQueue(spec QueueSpec) {
	d.add(func(e *edit) error { return e.declareQueue(&spec) })
}

// DeclareExchange adds an exchange, which must be the same if it is there.
func (d *Definitions) DeclareExchange(spec ExchangeSpec) {
	d.add(func(e *edit) error { return e.declareExchange(&spec) })
}

// Bind adds a binding.
func (d *Definitions) Bind(spec BindSpec) { d.add(func(e *edit) error { return e.bind(&spec) }) }

// Unbind removes a binding, which need not be there.
func (d *Definitions) Unbind(spec BindSpec) { d.add(func(e *edit) error { return e.unbind(&spec) }) }

// DeleteQueue deletes a queue with all that is in it, whoever uses it. It need not be there.
func (d *Definitions) DeleteQueue(name string) {
	d.add(func(e *edit) error { return e.deleteQueue(name) })
}

// DeleteExchange deletes an exchange with its bindings. It need not be there.
func (d *Definitions) DeleteExchange(name string) {
	d.add(func(e *edit) error { return e.deleteExchange(name) })
}

// SetParameter gives a parameter its value, a JSON text.
func (d *Definitions) SetParameter(component, name string, value json.RawMessage) {
	d.add(func(e *edit) error {
		f, err := (&Parameter{e.v.Name, component, name, value}).fact()
		if err == nil {
			e.parameter(f)
		}
		return err
	})
}

// DeleteParameter deletes a parameter, which need not be there.
func (d *Definitions) DeleteParameter(component, parameter string) {
	d.add(func(e *edit) error {
		e.parameter(&parameterFact{VHost: e.v.Name, Component: name(component), Name: name(parameter), Delete: true})
		return nil
	})
}

// Define makes the changes and returns when they are durable: they are one entry of the log, so that a crash leaves all or none of
// them. With an error, which is that of the first change that cannot be, nothing has changed. The errors are those of the methods of
// Session with the names of the changes; ErrLogFailed.
func (s *Session) Define(d *Definitions) error {
	s.Flush()
	c := s.b.catalog
	c.mu.Lock()
	e := &edit{s: s, c: c, v: s.vhost, table: s.vhost.table.Load()}
	err := s.vhost.check()
	for i := 0; i < len(d.steps) && err == nil; i++ {
		err = d.steps[i](e)
	}
	if err != nil {
		e.undo()
		c.mu.Unlock()
		return err
	}
	index := e.apply()
	var heard *sync.WaitGroup
	if slices.ContainsFunc(e.parameters, func(f *parameterFact) bool { return c.isPolicy(string(f.Component)) }) {
		heard = c.enforce(e.v)
	}
	c.mu.Unlock()
	if heard != nil {
		heard.Wait()
	}
	for i := range e.bound {
		s.recall(&e.bound[i])
	}
	if err := c.await(index); err != nil {
		return err
	}
	return s.b.dropAll(e.ended) // not before that is durable: after a crash before it they are there again
}

// edit is the definitions of a virtual host on their way to others. It works on a table that nobody sees yet. catalog.mu is held.
type edit struct {
	s *Session
	c *catalog
	v *VHost

	table      *routing.Table
	made       []*Queue // new ones, relays too; the catalog has them already
	ended      []*Queue // that go, relays too
	kept       []*Queue // implicit ones that stay
	bound      []routing.Binding
	parameters []*parameterFact
	facts      []byte
}

// undo gives up.
func (e *edit) undo() {
	for _, q := range e.made {
		e.forget(q)
	}
}

// apply makes the changes true and returns the index of the entry to wait for.
func (e *edit) apply() uint64 {
	index := e.c.index // of what is there already, too
	if len(e.facts) > 0 {
		index = e.c.recordData(e.facts)
	}
	for _, q := range e.made {
		if q.Durable {
			q.created = index
		}
		if q.Declared.ConsumeAfter {
			e.v.orderOn(q)
		}
		q.shard.post(func() { q.shard.register(q) })
		if q.owner != nil {
			q.owner.own(q)
		}
	}
	for _, q := range e.kept {
		q.explicitAt.Store(index)
		q.implicit.Store(false)
	}
	for _, q := range e.ended {
		e.forget(q)
		if q.owner != nil {
			q.owner.disown(q)
		}
	}
	if e.table != e.v.table.Load() {
		e.v.table.Store(e.table)
	}
	for _, f := range e.parameters {
		e.c.applyParameter(f)
	}
	return index
}

// forget takes a queue off the list of all queues.
func (e *edit) forget(q *Queue) {
	if e.c.forget(q.ID) && q.relay == nil {
		e.v.queues.Add(-1)
	}
}

func (e *edit) record(f *topologyFact) {
	f.VHost = e.v.Name
	e.facts = f.append(e.facts)
}

func (e *edit) parameter(f *parameterFact) {
	e.parameters = append(e.parameters, f)
	e.facts = f.append(e.facts)
}

func (e *edit) declareQueue(spec *QueueSpec) error {
	if !spec.Passive {
		if err := e.s.may(toConfigure, "queue", spec.Name); err != nil {
			return err
		}
	}
	if q, err := e.s.queueIn(e.table, spec.Name); err == nil || !errors.Is(err, ErrQueueNotFound) || spec.Passive {
		if err != nil || spec.Passive {
			return err
		}
		if err := equivalent(q, spec); err != nil || !q.implicit.Load() || spec.Implicit {
			return err
		}
		f := newQueueFact(q)
		f.Implicit = false
		e.kept = append(e.kept, q)
		e.record(&topologyFact{Queue: f})
		return nil
	}
	if err := e.s.mayCreate(spec); err != nil {
		return err
	}
	q := e.s.newQueue(spec)
	e.made = append(e.made, q)
	e.c.keep(q)
	e.v.queues.Add(1)
	e.table = e.table.AddQueue(q.Name, routing.QueueID(q.ID))
	if q.Durable {
		e.record(&topologyFact{Queue: newQueueFact(q)})
	}
	return nil
}

func (e *edit) declareExchange(spec *ExchangeSpec) error {
	x, ok := e.table.Exchange(spec.Name)
	if spec.Passive {
		if !ok {
			return e.s.fail(ErrExchangeNotFound, "exchange", spec.Name)
		}
		return nil
	}
	rs, err := e.s.mayDeclareExchange(spec)
	if err == nil {
		err = e.s.mayCreateExchange(spec, ok)
	}
	if err != nil {
		return err
	}
	t, relay, err := e.c.declareExchange(e.v, e.table, &rs, spec)
	if err != nil {
		return e.s.routingError(err, spec.Name, x, spec)
	}
	e.table = t
	if relay != nil {
		e.made = append(e.made, relay)
	}
	if !ok && spec.Durable {
		e.record(&topologyFact{Exchange: newExchangeFact(&rs, relay)})
	}
	return nil
}

func (e *edit) bind(spec *BindSpec) error {
	b, err := e.binding(spec, true)
	if err != nil {
		return err
	}
	t, added, err := e.table.Bind(b)
	if err != nil {
		return e.s.routingError(err, spec.Source, nil, nil)
	}
	if !added {
		return nil
	}
	e.table = t
	e.bound = append(e.bound, b)
	if e.c.durable(t, &b) {
		e.record(&topologyFact{Binding: newBindingFact(&b)})
	}
	return nil
}

func (e *edit) unbind(spec *BindSpec) error {
	b, err := e.binding(spec, false)
	if errors.Is(err, ErrQueueNotFound) || errors.Is(err, ErrExchangeNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	durable := e.c.durable(e.table, &b)
	t, removed := e.table.Unbind(b)
	if !removed {
		return nil
	}
	e.table = t
	if durable {
		e.record(&topologyFact{Delete: true, Binding: newBindingFact(&b)})
	}
	e.sweep([]routing.Binding{b})
	return nil
}

// binding asks for permission and finds both ends.
func (e *edit) binding(spec *BindSpec, mustExist bool) (b routing.Binding, err error) {
	if err := e.s.mayBind(e.table, spec); err != nil {
		return b, err
	}
	return e.s.binding(e.table, spec, mustExist)
}

func (e *edit) deleteQueue(queue string) error {
	if err := e.s.may(toConfigure, "queue", queue); err != nil {
		return err
	}
	q, err := e.s.queueIn(e.table, queue)
	if errors.Is(err, ErrQueueNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	t, removed := e.table.RemoveQueue(q.Name, routing.QueueID(q.ID))
	e.table = t
	e.ended = append(e.ended, q)
	if q.Durable {
		e.record(&topologyFact{Delete: true, Queue: &queueFact{ID: q.ID, Name: name(q.Name)}})
	}
	e.sweep(removed)
	return nil
}

func (e *edit) deleteExchange(exchange string) error {
	if err := e.s.mayDeleteExchange(exchange); err != nil {
		return err
	}
	if x, ok := e.table.Exchange(exchange); ok {
		e.takeOut(x)
	}
	return nil
}

// takeOut takes an exchange and its bindings out of the table, and what goes with them.
func (e *edit) takeOut(x *routing.Exchange) {
	t, removed, err := e.table.DeleteExchange(x.Spec.Name)
	if err != nil {
		return
	}
	e.table = t
	if relay := e.c.relayQueue(x); relay != nil {
		e.ended = append(e.ended, relay)
	}
	if x.Spec.Durable {
		e.record(&topologyFact{Delete: true, Exchange: &exchangeFact{Name: name(x.Spec.Name)}})
	}
	e.sweep(removed)
}

// sweep deletes the auto-delete exchanges among the sources of removed bindings that have none left.
func (e *edit) sweep(removed []routing.Binding) {
	for _, b := range removed {
		if x, ok := e.table.Exchange(b.Source); ok && x.Spec.AutoDelete && x.BindingCount() == 0 {
			e.takeOut(x)
		}
	}
}
