package broker

import (
	"errors"
	"strings"

	"fiveways/internal/core/queue"
	"fiveways/internal/core/routing"
)

// usableQueue finds a queue that this session may use.
func (s *Session) usableQueue(name string) (*Queue, error) {
	return s.queueIn(s.vhost.table.Load(), name)
}

func (s *Session) queueIn(t *routing.Table, name string) (*Queue, error) {
	q, ok := s.b.queueIn(t, name)
	if !ok {
		return nil, s.noQueue(name)
	}
	if q.owner != nil && q.owner != s && !s.operator {
		return nil, s.fail(ErrExclusive, "queue", name)
	}
	return q, nil
}

// DeclareQueue creates a queue, or checks that the one there is the same, and
// returns when its existence is durable. Errors: ErrAccessRefused,
// ErrQueueNotFound (passive), ErrExclusive, ErrInequivalent, ErrQueueLimit,
// ErrLogFailed.
func (s *Session) DeclareQueue(spec QueueSpec) (QueueInfo, error) {
	s.Flush()
	s.b.counters.queuesDeclared.Add(1)
	if !spec.Passive {
		if err := s.may(toConfigure, "queue", spec.Name); err != nil {
			return QueueInfo{}, err
		}
	}
	if q, ok := s.vhost.queue(spec.Name); ok || spec.Passive {
		if !ok {
			return QueueInfo{}, s.noQueue(spec.Name)
		}
		return s.redeclare(q, &spec)
	}
	c := s.b.catalog
	c.mu.Lock()
	if q, ok := s.vhost.queue(spec.Name); ok { // declared meanwhile
		c.mu.Unlock()
		return s.redeclare(q, &spec)
	}
	if err := s.mayCreate(&spec); err != nil {
		c.mu.Unlock()
		return QueueInfo{}, err
	}
	q := s.newQueue(&spec)
	if q.Durable {
		q.created = c.record(&topologyFact{VHost: s.vhost.Name, Queue: newQueueFact(q)})
	}
	q.shard.post(func() { q.shard.register(q) })
	c.add(q)
	c.mu.Unlock()
	if spec.Exclusive {
		s.own(q)
	}
	return QueueInfo{Name: q.Name}, c.await(q.created)
}

// newQueue builds a queue that is declared. catalog.mu is held.
func (s *Session) newQueue(spec *QueueSpec) *Queue {
	c := s.b.catalog
	q := &Queue{
		ID: c.nextQueue, Name: spec.Name, Durable: spec.Durable && !spec.Exclusive, declared: spec.Durable,
		AutoDelete: spec.AutoDelete, Args: spec.Args, Declared: spec.Policy, vhost: s.vhost, shard: c.placeFor(s.vhost, &spec.Policy), state: &queue.State{},
	}
	q.rule(q.ruled())
	if spec.Exclusive {
		q.owner = s
	}
	c.nextQueue++
	s.b.counters.queuesCreated.Add(1)
	q.implicit.Store(spec.Implicit && q.Durable)
	return q
}

// own notes that a queue goes with the session.
func (s *Session) own(q *Queue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.exclusive == nil {
		s.exclusive = map[string]*Queue{}
	}
	s.exclusive[q.Name] = q
}

// disown forgets a queue that is gone.
func (s *Session) disown(q *Queue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.exclusive[q.Name] == q {
		delete(s.exclusive, q.Name)
	}
}

// mayCreate tells whether a queue that is not there may be. catalog.mu is held.
func (s *Session) mayCreate(spec *QueueSpec) error {
	if err := s.vhost.check(); err != nil {
		return err
	}
	if err := s.vhost.roomForQueue(spec.Name); err != nil {
		return err
	}
	if !spec.Policy.DeadLetter {
		return nil
	}
	if err := s.may(toRead, "queue", spec.Name); err != nil {
		return err
	}
	return s.may(toWrite, "exchange", spec.Policy.DeadLetterExchange)
}

// CompareQueue fails as DeclareQueue does when there is a queue of this name that is not the one that is declared. Protocols ask before they
// refuse arguments: what is there counts first.
func (s *Session) CompareQueue(spec *QueueSpec) error {
	q, ok := s.vhost.queue(spec.Name)
	if !ok {
		return nil
	}
	if q.owner != nil && q.owner != s {
		return s.fail(ErrExclusive, "queue", spec.Name)
	}
	return equivalent(q, spec)
}

// redeclare answers a declaration of a queue that is there.
func (s *Session) redeclare(q *Queue, spec *QueueSpec) (QueueInfo, error) {
	if q.owner != nil && q.owner != s {
		return QueueInfo{}, s.fail(ErrExclusive, "queue", spec.Name)
	}
	if !spec.Passive {
		if err := equivalent(q, spec); err != nil {
			return QueueInfo{}, err
		}
	}
	if !spec.Passive && !spec.Implicit && q.implicit.Load() {
		if !s.b.catalog.makeExplicit(q) { // it was removed just now
			return s.DeclareQueue(*spec)
		}
	}
	durable := max(q.created, q.explicitAt.Load())
	info := QueueInfo{Name: q.Name}
	err := q.shard.call(func() {
		q.used(q.shard.now)
		info.Ready, info.Consumers = q.state.Ready(), len(q.consumers.list)
	})
	if err != nil {
		return info, err
	}
	return info, s.b.catalog.await(durable)
}

// equivalent compares a declaration with the queue that is there, in the order
// in which RabbitMQ reports differences.
func equivalent(q *Queue, spec *QueueSpec) error {
	differs := func(arg string, received, current any) error {
		return &Error{
			Err: ErrInequivalent, Kind: "queue", Name: q.Name, VHost: q.vhost.Name, Arg: arg, Received: received, Current: current,
		}
	}
	if spec.Exclusive != (q.owner != nil) {
		return &Error{Err: ErrExclusive, Kind: "queue", Name: q.Name, VHost: q.vhost.Name}
	}
	if spec.Durable != q.declared {
		return differs("durable", spec.Durable, q.declared)
	}
	if spec.AutoDelete != q.AutoDelete {
		return differs("auto_delete", spec.AutoDelete, q.AutoDelete)
	}
	if arg, received, current, ok := firstDifference(spec.Args, q.Args, spec.Compared); !ok {
		return differs(arg, received, current)
	}
	return nil
}

// DeleteQueue deletes a queue and returns when that is durable, with the number
// of ready messages it held. A missing queue is none: 0. Errors:
// ErrAccessRefused, ErrExclusive, ErrInUse, ErrNotEmpty.
func (s *Session) DeleteQueue(name string, ifUnused, ifEmpty bool) (messages int, err error) {
	s.Flush()
	if err := s.may(toConfigure, "queue", name); err != nil {
		return 0, err
	}
	q, err := s.usableQueue(name)
	if errors.Is(err, ErrQueueNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return s.b.deleteQueueIf(q, dropWhen{unused: ifUnused, empty: ifEmpty})
}

// deleteQueue deletes a queue of the broker's own accord.
func (b *Broker) deleteQueue(q *Queue) { b.endQueue(q, dropWhen{unused: q.owner == nil}) }

// expireQueue deletes a queue that nobody used for its time.
func (b *Broker) expireQueue(q *Queue) { b.endQueue(q, dropWhen{expired: true}) }

func (b *Broker) endQueue(q *Queue, when dropWhen) {
	if _, err := b.deleteQueueIf(q, when); err != nil && !errors.Is(err, ErrClosed) && !errors.Is(err, ErrInUse) {
		b.log.Warn("a queue could not be deleted", "vhost", q.vhost.Name, "queue", q.Name, "err", err)
	}
}

func (b *Broker) deleteQueueIf(q *Queue, when dropWhen) (messages int, err error) {
	c := b.catalog
	c.mu.Lock()
	sh := q.shard
	var release func()
	closed := sh.call(func() {
		n, runs, e := sh.drop(q, when)
		messages, err = n, e
		release = func() { b.store.ReleaseRuns(sh.id, runs) }
	})
	if err == nil {
		err = closed
	}
	if err != nil {
		c.mu.Unlock()
		return 0, err
	}
	index := c.index // one fact has deleted the virtual host with all its queues, or:
	if !q.vhost.gone {
		facts := c.sweep(q.vhost, c.remove(q))
		if q.Durable {
			facts = append(facts, &topologyFact{VHost: q.vhost.Name, Delete: true, Queue: &queueFact{ID: q.ID, Name: name(q.Name)}})
		}
		index = c.record(facts...)
	}
	c.mu.Unlock()
	if q.owner != nil {
		q.owner.disown(q)
	}
	if err := c.await(index); err != nil {
		return messages, err
	}
	release() // not before the deletion is durable: after a crash the queue might still need them
	return messages, nil
}

// PurgeQueue removes the ready messages and returns when that is durable.
// Errors: ErrAccessRefused, ErrQueueNotFound, ErrExclusive, ErrLogFailed.
func (s *Session) PurgeQueue(name string) (messages int, err error) {
	s.Flush()
	if err := s.may(toRead, "queue", name); err != nil {
		return 0, err
	}
	q, err := s.usableQueue(name)
	if err != nil {
		return 0, err
	}
	done := make(chan error, 1)
	if err := q.shard.call(func() { messages = q.shard.purge(q, func(err error) { done <- err }) }); err != nil {
		return 0, err
	}
	if err := <-done; err != nil {
		return 0, s.fail(ErrLogFailed, "queue", name)
	}
	return messages, nil
}

// DeclareExchange creates an exchange or checks that the one there is the same.
// Errors: ErrAccessRefused, ErrExchangeNotFound (passive), ErrInequivalent,
// ErrReservedName, ErrDefaultExchange, ErrUnknownExchangeType,
// ErrInvalidBinding.
func (s *Session) DeclareExchange(spec ExchangeSpec) error {
	s.Flush()
	if spec.Passive {
		if _, ok := s.vhost.table.Load().Exchange(spec.Name); !ok {
			return s.fail(ErrExchangeNotFound, "exchange", spec.Name)
		}
		return nil
	}
	rs, err := s.mayDeclareExchange(&spec)
	if err != nil {
		return err
	}
	c := s.b.catalog
	c.mu.Lock()
	x, ok := s.vhost.table.Load().Exchange(spec.Name)
	if err := s.mayCreateExchange(&spec, ok); err != nil {
		c.mu.Unlock()
		return err
	}
	var relay *Queue
	err = s.vhost.change(func(t *routing.Table) (next *routing.Table, err error) {
		next, relay, err = c.declareExchange(s.vhost, t, &rs, &spec)
		if relay != nil {
			relay.shard.post(func() { relay.shard.register(relay) })
		}
		return next, err
	})
	index := c.index
	if err == nil && !ok && spec.Durable {
		index = c.record(&topologyFact{VHost: s.vhost.Name, Exchange: newExchangeFact(&rs, relay)})
	}
	c.mu.Unlock()
	if err != nil {
		return s.routingError(err, spec.Name, x, &spec)
	}
	if !spec.Durable {
		return nil
	}
	return c.await(index)
}

// mayDeclareExchange asks whether the session may configure the exchange, and makes the declaration one for routing.
func (s *Session) mayDeclareExchange(spec *ExchangeSpec) (rs routing.ExchangeSpec, err error) {
	if err := s.may(toConfigure, "exchange", spec.Name); err != nil {
		return rs, err
	}
	rs = routing.ExchangeSpec{
		Name: spec.Name, Type: spec.Type, Durable: spec.Durable, AutoDelete: spec.AutoDelete, Internal: spec.Internal,
		Alternate: spec.Alternate, Args: spec.Args,
	}
	if rs.Type == routing.TypeHistory && spec.Relay.Deduplicate {
		return rs, &Error{
			Err: ErrInvalidBinding, Kind: "exchange", Name: spec.Name, VHost: s.vhost.Name,
			Detail: "an exchange of type '" + rs.Type + "' cannot de-duplicate; bind it to one that does",
		}
	}
	return rs, nil
}

// declareExchange adds an exchange to a table, with the relay that it needs if it is new; nobody has registered the relay yet.
func (c *catalog) declareExchange(v *VHost, t *routing.Table, rs *routing.ExchangeSpec, spec *ExchangeSpec) (*routing.Table, *Queue, error) {
	_, there := t.Exchange(rs.Name)
	next, err := t.DeclareExchange(*rs)
	if err == nil && !there {
		next = v.withAlternate(next, rs.Name)
	}
	policy, needed := relayPolicy(rs, &spec.Relay)
	if err != nil || there || !needed {
		return next, nil, err
	}
	relay := c.newRelay(v, rs, policy)
	next, err = c.addRelay(next, relay)
	return next, relay, err
}

// mayCreateExchange asks what a declaration needs beyond configure. catalog.mu
// is held.
func (s *Session) mayCreateExchange(spec *ExchangeSpec, exists bool) error {
	if err := s.vhost.check(); err != nil {
		return err
	}
	if exists || spec.Alternate == "" || strings.HasPrefix(spec.Name, "amq.") { // a reserved name is refused for being one
		return nil
	}
	if err := s.may(toRead, "exchange", spec.Name); err != nil {
		return err
	}
	return s.may(toWrite, "exchange", spec.Alternate)
}

// DeleteExchange deletes an exchange with its bindings; a missing one is none.
// Errors: ErrAccessRefused, ErrInUse, ErrDefaultExchange, ErrSystemExchange.
func (s *Session) DeleteExchange(name string, ifUnused bool) error {
	s.Flush()
	if err := s.mayDeleteExchange(name); err != nil {
		return err
	}
	c := s.b.catalog
	c.mu.Lock()
	x, ok := s.vhost.table.Load().Exchange(name)
	if !ok {
		c.mu.Unlock()
		return nil
	}
	if ifUnused && x.BindingCount() > 0 {
		c.mu.Unlock()
		return s.fail(ErrInUse, "exchange", name)
	}
	index := c.record(c.deleteExchange(s.vhost, x)...)
	c.mu.Unlock()
	return c.await(index)
}

func (s *Session) mayDeleteExchange(name string) error {
	if name == "" {
		return s.fail(ErrDefaultExchange, "exchange", name)
	}
	if strings.HasPrefix(name, "amq.") {
		return s.fail(ErrSystemExchange, "exchange", name)
	}
	return s.may(toConfigure, "exchange", name)
}

// Bind adds a binding. Errors: ErrAccessRefused, ErrExchangeNotFound,
// ErrQueueNotFound, ErrDefaultExchange, ErrInvalidBinding, ErrExclusive.
func (s *Session) Bind(spec BindSpec) error {
	s.Flush()
	if err := s.mayBind(s.vhost.table.Load(), &spec); err != nil {
		return err
	}
	c := s.b.catalog
	c.mu.Lock()
	b, err := s.binding(s.vhost.table.Load(), &spec, true)
	if err != nil {
		c.mu.Unlock()
		return err
	}
	t, added, err := s.vhost.table.Load().Bind(b)
	if err != nil {
		c.mu.Unlock()
		return s.routingError(err, spec.Source, nil, nil)
	}
	durable := c.durable(t, &b)
	index := c.index
	if added {
		s.vhost.table.Store(t)
		if durable {
			index = c.record(&topologyFact{VHost: s.vhost.Name, Binding: newBindingFact(&b)})
		}
	}
	c.mu.Unlock()
	if added {
		s.recall(&b)
	}
	if !durable {
		return nil
	}
	return c.await(index)
}

// Unbind removes a binding; one that is not there, or whose ends are not, is
// no error. Errors: ErrAccessRefused, ErrDefaultExchange, ErrExclusive.
func (s *Session) Unbind(spec BindSpec) error {
	s.Flush()
	if err := s.mayBind(s.vhost.table.Load(), &spec); err != nil {
		return err
	}
	c := s.b.catalog
	c.mu.Lock()
	b, err := s.binding(s.vhost.table.Load(), &spec, false)
	if errors.Is(err, ErrQueueNotFound) || errors.Is(err, ErrExchangeNotFound) {
		c.mu.Unlock()
		return nil
	}
	if err != nil {
		c.mu.Unlock()
		return err
	}
	durable := c.durable(s.vhost.table.Load(), &b)
	t, removed := s.vhost.table.Load().Unbind(b)
	var facts []*topologyFact
	if removed {
		s.vhost.table.Store(t)
		if durable {
			facts = append(facts, &topologyFact{VHost: s.vhost.Name, Delete: true, Binding: newBindingFact(&b)})
		}
		facts = append(facts, c.sweep(s.vhost, []routing.Binding{b})...)
	}
	index := c.record(facts...)
	c.mu.Unlock()
	return c.await(index)
}

// binding finds both ends of a binding in a table.
func (s *Session) binding(t *routing.Table, spec *BindSpec, mustExist bool) (routing.Binding, error) {
	b := routing.Binding{Source: spec.Source, Key: spec.Key, Args: spec.Args}
	if err := s.vhost.check(); err != nil {
		return b, err
	}
	if spec.Source == "" || spec.ToExchange && spec.Destination == "" {
		return b, s.fail(ErrDefaultExchange, "exchange", "")
	}
	if _, ok := t.Exchange(spec.Source); !ok && mustExist {
		return b, s.fail(ErrExchangeNotFound, "exchange", spec.Source)
	}
	if spec.ToExchange {
		b.ToExchange = spec.Destination
		if _, ok := t.Exchange(spec.Destination); !ok {
			return b, s.fail(ErrExchangeNotFound, "exchange", spec.Destination)
		}
	} else {
		q, err := s.queueIn(t, spec.Destination)
		if err != nil {
			return b, err
		}
		b.ToQueue = routing.QueueID(q.ID)
	}
	return b, nil
}

// routingError turns an error of core/routing into the engine's.
func (s *Session) routingError(err error, name string, x *routing.Exchange, spec *ExchangeSpec) error {
	e := &Error{Kind: "exchange", Name: name, VHost: s.vhost.Name, User: s.User}
	var re *routing.Error
	if errors.As(err, &re) {
		e.Detail = re.Text
		if re.Exchange != "" {
			e.Name = re.Exchange
		}
	}
	var ie *routing.InequivalentError
	if errors.As(err, &ie) {
		e.Arg, e.Received, e.Current = ie.Arg, ie.Received, ie.Current
	}
	switch {
	case errors.Is(err, routing.ErrNoExchange):
		e.Err = ErrExchangeNotFound
	case errors.Is(err, routing.ErrDefaultExchange):
		e.Err = ErrDefaultExchange
	case errors.Is(err, routing.ErrReservedName):
		e.Err = ErrReservedName
	case errors.Is(err, routing.ErrSystemExchange):
		e.Err = ErrSystemExchange
	case errors.Is(err, routing.ErrUnknownType):
		e.Err = ErrUnknownExchangeType
		if spec != nil {
			e.Detail = spec.Type
		}
	case errors.Is(err, routing.ErrInequivalent):
		e.Err = ErrInequivalent
	default:
		e.Err = ErrInvalidBinding
	}
	return e
}
