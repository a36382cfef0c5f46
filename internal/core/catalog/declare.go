package catalog

import (
	"errors"
	"strings"

	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/routing"
)

// DeclareQueue adds a queue. If the queue exists, the declaration must be equivalent. A passive
// declaration only checks that it exists. Errors: ErrAccessRefused, ErrQueueNotFound, ErrExclusive,
// ErrInequivalent, ErrQueueLimit.
func (e *Edit) DeclareQueue(spec *QueueSpec) error {
	if !spec.Passive {
		if err := e.rights.May(Configure, "queue", spec.Name); err != nil {
			return err
		}
	}
	q, err := e.Usable(spec.Name)
	switch {
	case err == nil && spec.Passive:
		e.Durable = e.Durable || q.Durable
		return nil
	case err == nil:
		return e.redeclareQueue(q, spec)
	case !errors.Is(err, failure.ErrQueueNotFound) || spec.Passive:
		return err
	}
	if err := e.mayCreateQueue(spec); err != nil {
		return err
	}
	q = e.newQueue(spec.Name, &spec.Policy)
	q.Durable, q.DeclaredDurable, q.AutoDelete, q.Args = spec.Durable && !spec.Exclusive, spec.Durable, spec.AutoDelete, spec.Args
	q.implicit.Store(spec.Implicit && q.Durable)
	if spec.Exclusive {
		q.Owner = e.rights.Owner
	}
	e.addQueue(q)
	if q.Durable {
		e.record(&topologyFact{Queue: newQueueFact(q)})
	}
	return nil
}

// redeclareQueue handles the declaration of an existing queue.
func (e *Edit) redeclareQueue(q *Queue, spec *QueueSpec) error {
	if err := q.equivalent(spec); err != nil {
		return err
	}
	e.Durable = e.Durable || q.Durable
	if q.Implicit() && !spec.Implicit {
		e.KeepQueue(q)
	}
	return nil
}

// KeepQueue makes an implicit queue explicit, so that it stays. It returns false if the queue is
// gone.
func (e *Edit) KeepQueue(q *Queue) bool {
	if _, ok := e.queueByID(q.ID); !ok {
		return false
	}
	if q.Implicit() {
		f := newQueueFact(q)
		f.Implicit = false
		e.Kept = append(e.Kept, q)
		e.record(&topologyFact{Queue: f})
	}
	return true
}

// newQueue builds a new queue.
func (e *Edit) newQueue(name string, p *QueuePolicy) *Queue {
	q := e.state.engine.NewQueue()
	q.ID, q.Name, q.In, q.Declared = e.state.nextQueue, name, e.v, p.kept()
	q.Shard = e.state.engine.Place(e.v, q.ID, p)
	e.state.nextQueue++
	return q
}

// mayCreateQueue checks whether the user may create a queue.
func (e *Edit) mayCreateQueue(spec *QueueSpec) error {
	if err := e.v.Check(); err != nil {
		return err
	}
	if err := e.roomForQueue(spec.Name); err != nil {
		return err
	}
	if !spec.Policy.DeadLetter {
		return nil
	}
	if err := e.rights.May(Read, "queue", spec.Name); err != nil {
		return err
	}
	return e.rights.May(Write, "exchange", spec.Policy.DeadLetterExchange)
}

// DeleteQueue deletes a queue with all its messages, even if it is in use. The queue need not
// exist. Errors: ErrAccessRefused, ErrExclusive.
func (e *Edit) DeleteQueue(name string) error {
	if err := e.rights.May(Configure, "queue", name); err != nil {
		return err
	}
	q, err := e.Usable(name)
	if errors.Is(err, failure.ErrQueueNotFound) {
		e.Durable = true // the deletion may not be durable yet
		return nil
	}
	if err == nil {
		e.EndQueue(q)
	}
	return err
}

// EndQueue deletes an existing queue, and auto-delete exchanges that lose their last binding with
// it.
func (e *Edit) EndQueue(q *Queue) {
	removed := e.removeQueue(q)
	if q.Durable {
		e.record(&topologyFact{Delete: true, Queue: &queueFact{ID: q.ID, Name: name(q.Name)}})
	}
	e.sweep(removed)
}

// DeclareExchange adds an exchange. If it exists the declaration must be equivalent. A passive
// declaration only checks that it exists. Errors: ErrAccessRefused, ErrExchangeNotFound,
// ErrInequivalent, ErrReservedName, ErrDefaultExchange, ErrUnknownExchangeType, ErrInvalidBinding.
func (e *Edit) DeclareExchange(spec *ExchangeSpec) error {
	_, there := e.table.Exchange(spec.Name)
	if spec.Passive {
		if !there {
			return e.rights.Fail(failure.ErrExchangeNotFound, "exchange", spec.Name)
		}
		return nil
	}
	if err := e.mayDeclareExchange(spec, there); err != nil {
		return err
	}
	rs := routing.ExchangeSpec{
		Name: spec.Name, Type: spec.Type, Durable: spec.Durable, AutoDelete: spec.AutoDelete, Internal: spec.Internal,
		Alternate: spec.Alternate, Args: spec.Args,
	}
	e.Durable = e.Durable || spec.Durable
	if there {
		_, err := e.table.DeclareExchange(rs)
		return e.routingError(err, spec.Name, spec)
	}
	return e.createExchange(rs, spec)
}

// createExchange adds a new exchange, with the buffer that it needs.
func (e *Edit) createExchange(rs routing.ExchangeSpec, spec *ExchangeSpec) error {
	var buffer *Queue
	if policy, needed := bufferPolicy(&rs, &spec.Buffer); needed {
		buffer = e.newQueue(bufferPrefix+rs.Name, &policy)
	}
	if err := e.addExchange(&rs, buffer); err != nil {
		return e.routingError(err, spec.Name, spec)
	}
	e.table = e.v.withAlternate(e.table, rs.Name)
	if rs.Durable {
		e.record(&topologyFact{Exchange: newExchangeFact(&rs, buffer)})
	}
	return nil
}

// mayDeclareExchange checks the permissions that a declaration needs.
func (e *Edit) mayDeclareExchange(spec *ExchangeSpec, there bool) error {
	if err := e.rights.May(Configure, "exchange", spec.Name); err != nil {
		return err
	}
	if spec.Type == routing.TypeHistory && spec.Buffer.Deduplicate {
		return &failure.Error{
			Err: failure.ErrInvalidBinding, Kind: "exchange", Name: spec.Name, VHost: e.v.Name,
			Detail: "an exchange of type '" + spec.Type + "' cannot de-duplicate; bind it to one that does",
		}
	}
	if err := e.v.Check(); err != nil {
		return err
	}
	if there || spec.Alternate == "" || strings.HasPrefix(spec.Name, "amq.") { // a reserved name has its own error
		return nil
	}
	if err := e.rights.May(Read, "exchange", spec.Name); err != nil {
		return err
	}
	return e.rights.May(Write, "exchange", spec.Alternate)
}

// DeleteExchange deletes an exchange with its bindings. It need not exist. Errors:
// ErrAccessRefused, ErrDefaultExchange, ErrSystemExchange, and ErrInUse with ifUnused.
func (e *Edit) DeleteExchange(name string, ifUnused bool) error {
	if name == "" {
		return e.rights.Fail(failure.ErrDefaultExchange, "exchange", name)
	}
	if strings.HasPrefix(name, "amq.") {
		return e.rights.Fail(failure.ErrSystemExchange, "exchange", name)
	}
	if err := e.rights.May(Configure, "exchange", name); err != nil {
		return err
	}
	x, ok := e.table.Exchange(name)
	if !ok {
		e.Durable = true // the deletion may not be durable yet
		return nil
	}
	if ifUnused && x.BindingCount() > 0 {
		return e.rights.Fail(failure.ErrInUse, "exchange", name)
	}
	e.endExchange(x)
	return nil
}

// endExchange deletes an exchange with its bindings, and the auto-delete exchanges that lose their
// last binding with it.
func (e *Edit) endExchange(x *routing.Exchange) {
	removed, err := e.removeExchange(x.Spec.Name)
	if err != nil {
		return
	}
	if x.Spec.Durable {
		e.record(&topologyFact{Delete: true, Exchange: &exchangeFact{Name: name(x.Spec.Name)}})
	}
	e.sweep(removed)
}

// sweep deletes the auto-delete exchanges that lost their last binding to removed.
func (e *Edit) sweep(removed []routing.Binding) {
	for _, b := range removed {
		if x, ok := e.table.Exchange(b.Source); ok && x.Spec.AutoDelete && x.BindingCount() == 0 {
			e.endExchange(x)
		}
	}
}

// Bind adds a binding. Errors: ErrAccessRefused, ErrExchangeNotFound, ErrQueueNotFound,
// ErrDefaultExchange, ErrInvalidBinding, ErrExclusive.
func (e *Edit) Bind(spec *BindSpec) error {
	b, err := e.binding(spec, true)
	if err != nil {
		return err
	}
	t, added, err := e.table.Bind(b)
	if err != nil {
		return e.routingError(err, spec.Source, nil)
	}
	e.table = t
	durable := e.durable(&b)
	e.Durable = e.Durable || durable
	if !added {
		return nil
	}
	e.Bound = append(e.Bound, b)
	if durable {
		e.record(&topologyFact{Binding: newBindingFact(&b)})
	}
	return nil
}

// Unbind removes a binding. It is no error if the binding or one of its ends does not exist.
// Errors: ErrAccessRefused, ErrDefaultExchange, ErrExclusive.
func (e *Edit) Unbind(spec *BindSpec) error {
	b, err := e.binding(spec, false)
	if errors.Is(err, failure.ErrQueueNotFound) || errors.Is(err, failure.ErrExchangeNotFound) {
		e.Durable = true // the deletion may not be durable yet
		return nil
	}
	if err != nil {
		return err
	}
	durable := e.durable(&b)
	t, removed := e.table.Unbind(b)
	if !removed {
		e.Durable = true
		return nil
	}
	e.table = t
	if durable {
		e.record(&topologyFact{Delete: true, Binding: newBindingFact(&b)})
	}
	e.sweep([]routing.Binding{b})
	return nil
}

// binding checks permissions and finds both ends of a binding.
func (e *Edit) binding(spec *BindSpec, mustExist bool) (b routing.Binding, err error) {
	if err := e.rights.mayBind(e.table, spec); err != nil {
		return b, err
	}
	if err := e.v.Check(); err != nil {
		return b, err
	}
	b = routing.Binding{Source: spec.Source, Key: spec.Key, Args: spec.Args}
	if _, ok := e.table.Exchange(spec.Source); !ok && mustExist {
		return b, e.rights.Fail(failure.ErrExchangeNotFound, "exchange", spec.Source)
	}
	if spec.ToExchange {
		b.ToExchange = spec.Destination
		if _, ok := e.table.Exchange(spec.Destination); !ok {
			return b, e.rights.Fail(failure.ErrExchangeNotFound, "exchange", spec.Destination)
		}
		return b, nil
	}
	q, err := e.Usable(spec.Destination)
	if err != nil {
		return b, err
	}
	b.ToQueue = routing.QueueID(q.ID)
	return b, nil
}

// routingError converts an error of core/routing to the engine's error. nil stays nil.
func (e *Edit) routingError(err error, name string, spec *ExchangeSpec) error {
	if err == nil {
		return nil
	}
	f := &failure.Error{Kind: "exchange", Name: name, VHost: e.v.Name, User: e.rights.User}
	var re *routing.Error
	if errors.As(err, &re) {
		f.Detail = re.Text
		if re.Exchange != "" {
			f.Name = re.Exchange
		}
	}
	var ie *routing.InequivalentError
	if errors.As(err, &ie) {
		f.Arg, f.Received, f.Current = ie.Arg, ie.Received, ie.Current
	}
	switch {
	case errors.Is(err, routing.ErrNoExchange):
		f.Err = failure.ErrExchangeNotFound
	case errors.Is(err, routing.ErrDefaultExchange):
		f.Err = failure.ErrDefaultExchange
	case errors.Is(err, routing.ErrReservedName):
		f.Err = failure.ErrReservedName
	case errors.Is(err, routing.ErrSystemExchange):
		f.Err = failure.ErrSystemExchange
	case errors.Is(err, routing.ErrUnknownType):
		f.Err = failure.ErrUnknownExchangeType
		if spec != nil {
			f.Detail = spec.Type
		}
	case errors.Is(err, routing.ErrInequivalent):
		f.Err = failure.ErrInequivalent
	default:
		f.Err = failure.ErrInvalidBinding
	}
	return f
}
