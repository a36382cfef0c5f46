package broker

import (
	"sync"
	"sync/atomic"

	"fiveways.dev/fiveways/internal/broker/batch"
	"fiveways.dev/fiveways/internal/broker/routecache"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/core/routing"
	"fiveways.dev/fiveways/internal/throttle"
)

// Session is one client connection as the engine sees it. Its methods are for the connection's
// reader goroutine, unless documented otherwise. Publish, Ack, Requeue and Reject only collect
// operations, which go to the shards in order at the next Flush. Every other method flushes first.
type Session struct {
	catalog.Rights
	Name  string
	b     *Broker
	vhost *shard.VHost
	evict func(error)

	client shard.Client

	brief    bool            // SessionOptions.Brief
	userRate *throttle.Limit // of the user; nil: the user does not exist
	done     <-chan struct{} // SessionOptions.Done
	gone     func() bool     // SessionOptions.Gone

	channels int64 // guarded by sessions.mu: counted for the user's limit

	cache  routecache.Cache
	emits  routecache.Cache // of ServerPublish
	named  namedTargets
	routed routed
	found  routing.Route
	asked  routing.Message // kept, because it escapes
	batch  batch.Batch

	committing committing
	tripping   tripping
	lone       lone // of Run

	waiter atomic.Pointer[waiter] // of the running Await; nil: none

	mu        sync.Mutex
	exclusive map[string]*shard.Queue     // guarded by mu: queues that are deleted with the session
	copiers   map[*shard.Consumer]*copier // guarded by mu
	mailboxes map[string]struct{}
	closed    bool
	ended     chan struct{} // guarded by mu: closed by Close; nil while nothing waits for it
}

// SessionOptions describe a client connection.
type SessionOptions struct {
	User  string
	VHost string
	Name  string // shown to operators: addresses
	Sink  shard.Sink
	// Evict is called when the session must end: its virtual host or its user was deleted. It is
	// called on any goroutine and must not block. The protocol then calls Close. It may be nil.
	Evict func(reason error)
	// ClientID is the protocol's name for the client, for topic permissions; "" if it has none.
	ClientID string
	// Outside admits a user without permissions in the virtual host, for a protocol that serves
	// more than queues; the user cannot reach queues.
	Outside bool
	// Brief is for a session that serves one request: it does not count as a connection.
	Brief bool
	// Instead is the session that the client has so far and closes if it gets this one. It does not
	// count towards the limits of this one.
	Instead *Session
	// Done is closed when the client is gone, which ends waits for rates. Gone reports that the
	// client has disconnected, and ends them, too. Both may be nil.
	Done <-chan struct{}
	Gone func() bool
}

// NewSession opens a session on a virtual host. Errors: ErrVHostNotFound, ErrVHostConnections,
// ErrUserConnections, ErrVHostRefused.
func (b *Broker) NewSession(o SessionOptions) (*Session, error) {
	v, ok := b.vhost(o.VHost)
	if !ok {
		return nil, &failure.Error{Err: failure.ErrVHostNotFound, Kind: "vhost", Name: o.VHost, VHost: o.VHost, User: o.User}
	}
	s := &Session{Name: o.Name, b: b, vhost: v, evict: o.Evict, brief: o.Brief, done: o.Done, gone: o.Gone}
	s.client.Name, s.client.User, s.client.Sink = o.Name, o.User, o.Sink
	s.Rights = v.RightsIn(catalog.Rights{User: o.User, ClientID: o.ClientID, Owner: s})
	if rate, ok := b.userRates.Load(o.User); ok {
		s.userRate = rate.(*throttle.Limit)
	}
	s.client.Window.Init(s.wakeShards)
	s.batch.Init(b.set, &s.client)
	if err := b.sessions.enter(s, o.Instead); err != nil {
		return nil, err
	}
	err := s.MayEnter()
	if o.Outside {
		err = nil
	}
	if now, ok := b.vhost(o.VHost); err == nil && (!ok || now != v) { // deleted before it could evict this session
		err = catalog.VHostNotFound(o.VHost)
	}
	if err != nil {
		b.sessions.leave(s)
		return nil, err
	}
	return s, nil
}

// Operate opens a session for operators of the broker: it may do everything in the virtual host,
// also with other sessions' exclusive queues, counts towards no limit, and has no deliveries.
// Errors: ErrVHostNotFound.
func (b *Broker) Operate(vhost string) (*Session, error) { return b.OperateFor(vhost, nil) }

// OperateLate is OperateFor with a sink that gets persistent messages in durable queues only once
// they are durable.
func (b *Broker) OperateLate(vhost string, sink shard.Sink) (*Session, error) {
	s, err := b.OperateFor(vhost, sink)
	if err == nil {
		s.client.Late = true
	}
	return s, err
}

// OperateFor is Operate for a part of this process that consumes. sink gets its deliveries.
func (b *Broker) OperateFor(vhost string, sink shard.Sink) (*Session, error) {
	v, ok := b.vhost(vhost)
	if !ok {
		return nil, catalog.VHostNotFound(vhost)
	}
	s := &Session{Name: "operator", b: b, vhost: v}
	s.client.Name, s.client.Sink = s.Name, sink
	s.Rights = v.RightsIn(catalog.Rights{Operator: true, Owner: s})
	s.client.Window.Init(s.wakeShards)
	s.batch.Init(b.set, &s.client)
	return s, nil
}

// VHost returns the name of the session's virtual host.
func (s *Session) VHost() string { return s.vhost.Name }

// Window returns the session's window of unwritten deliveries.
func (s *Session) Window() *shard.Window { return &s.client.Window }

// Route finds the queues for a message. peek is the result of message.PeekProperties for its
// properties, with the body; also holds additional routing keys. Errors: ErrAccessRefused,
// ErrExchangeNotFound, ErrInternalExchange.
func (s *Session) Route(exchange, key []byte, peek *message.Peek, also [][]byte) (shard.Targets, error) {
	return s.route(exchange, key, peek, also, false)
}

// route is Route, or with apart RouteApart.
func (s *Session) route(exchange, key []byte, peek *message.Peek, also [][]byte, apart bool) (shard.Targets, error) {
	if err := s.MayPublish(exchange); err != nil {
		return shard.Targets{}, err
	}
	table := s.vhost.Table()
	cached := also == nil && s.PublishesFreely()
	if cached {
		if t, ok := s.cache.Get(table, exchange, key); ok {
			s.count(s.cache.Traffic, len(t.Queues()))
			return t, nil
		}
	}
	x, ok := table.Exchange(string(exchange))
	if !ok {
		return shard.Targets{}, s.Fail(failure.ErrExchangeNotFound, "exchange", string(exchange))
	}
	if x.Spec.Internal {
		return shard.Targets{}, s.Fail(failure.ErrInternalExchange, "exchange", string(exchange))
	}
	if err := s.MayRoute(x, key); err != nil {
		return shard.Targets{}, err
	}
	s.asked = asks(key, also, peek)
	s.asked.Apart = apart
	table.RouteFrom(x, &s.asked, &s.found)
	s.asked = routing.Message{}
	t := s.vhost.Resolve(s.found.Queues)
	s.count(x.Traffic(), len(t.Queues()))
	if cached && s.found.ByKey {
		s.cache.Put(t, x.Traffic())
	}
	return t, nil
}

// Reaches reports whether a message would now reach a client's queue, directly or after an exchange
// has held it for a while. The arguments are those of Route.
func (s *Session) Reaches(exchange, key []byte, peek *message.Peek, also [][]byte) bool {
	x, ok := s.vhost.Table().Exchange(string(exchange))
	if !ok {
		return false
	}
	var r routing.Route
	m := asks(key, also, peek)
	m.Past = routing.PastAll
	s.vhost.Table().RouteFrom(x, &m, &r)
	return len(r.Queues) > 0
}

// Publish collects a message, after waiting for rate limits. If it has a Confirmer, Confirmed is
// called for its Seq once per part of the targets. Without targets it is called before Publish
// returns: for a persistent message once it is durable that there are none.
func (s *Session) Publish(p *shard.Publish) {
	if !p.Told {
		s.TapPublish(0, p.Env, nil, p.Targets)
	}
	if p.Targets.Empty() {
		if p.Confirm != nil {
			p.Confirm.Confirmed(p.Seq, p.Seq, !p.Persistent || s.AwaitRemovals() == nil)
		}
		return
	}
	if s.b.set.Rated.Load() {
		s.awaitTurn(p)
		p.Reserved = false
	}
	s.batch.Publishes = true
	s.batch.Hold = max(s.batch.Hold, p.Targets.Queues()[0].Hold())
	o := p.Op()
	if p.Targets.Parts() == 1 {
		o.Queue, o.More = p.Targets.Queues()[0], p.Targets.Queues()[1:]
		s.gather(o.Queue.Home(), o)
		return
	}
	p.Targets.Each(o, s.gather)
}

// Ack collects acknowledgements of n contiguous deliveries.
func (s *Session) Ack(q *shard.Queue, c *shard.Consumer, h queue.Handle, n int) {
	s.settle(shard.OpAck, q, c, h, n)
}

// Requeue collects the return of n contiguous deliveries to their positions, as requested by their
// consumer.
func (s *Session) Requeue(q *shard.Queue, c *shard.Consumer, h queue.Handle, n int) {
	s.settle(shard.OpRequeue, q, c, h, n)
}

// Release collects the end of a loan: n contiguous lent messages return to their positions as if
// they had never been lent, neither counted nor marked as redelivered.
func (s *Session) Release(q *shard.Queue, h queue.Handle, n int) {
	s.settle(shard.OpRelease, q, nil, h, n)
}

// Return collects the return of n contiguous deliveries that no consumer decided on: their consumer
// is gone, or their time was over.
func (s *Session) Return(q *shard.Queue, c *shard.Consumer, h queue.Handle, n int) {
	s.settle(shard.OpReturn, q, c, h, n)
}

// Reject collects the rejection of n contiguous deliveries: they are dead-lettered, or dropped.
func (s *Session) Reject(q *shard.Queue, c *shard.Consumer, h queue.Handle, n int) {
	s.settle(shard.OpReject, q, c, h, n)
}

func (s *Session) settle(kind shard.OpKind, q *shard.Queue, c *shard.Consumer, h queue.Handle, n int) {
	s.gather(q.Home(), shard.Op{Kind: kind, Queue: q, Consumer: c, Handle: h, N: uint32(n)})
}

func (s *Session) gather(sh *shard.Shard, o shard.Op) { s.batch.Add(sh, o) }

// Flush hands over the collected operations (Batch.Flush).
func (s *Session) Flush() {
	s.tellRouted()
	s.batch.Flush()
}

// FlushInline is Flush on the caller's goroutine, as far as possible (Batch.FlushInline).
func (s *Session) FlushInline() {
	s.tellRouted()
	s.batch.FlushInline()
}

// FlushFew is FlushInline if few operations were collected and nothing makes the session wait.
// Otherwise it does nothing and returns false (Batch.FlushFew).
func (s *Session) FlushFew() bool {
	s.tellRouted()
	return s.batch.FlushFew()
}

// Idle frees memory that only a busy connection needs.
func (s *Session) Idle() {
	s.batch.Idle()
	s.cache, s.emits = routecache.Cache{}, routecache.Cache{}
	s.named = namedTargets{}
	s.found = routing.Route{}
	s.lone = lone{}
	s.committing, s.tripping = committing{}, tripping{}
}

// wakeShards makes the shards try the queues of the session's consumers again. Any goroutine may
// call it.
func (s *Session) wakeShards() {
	s.wakeCopiers()
	for _, sh := range s.b.set.All {
		sh.Send(shard.Op{Kind: shard.OpKick, Extra: &s.client})
	}
}

// SetLimit changes a shared limit. Consumers that it held back continue where the new limit allows.
func (*Session) SetLimit(l *shard.Limit, n int) {
	l.SetMax(n)
}

// Ended returns a channel that is closed when the session ends. Any goroutine may call it. Errors:
// ErrClosed.
func (s *Session) Ended() (<-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, failure.ErrClosed
	}
	if s.ended == nil {
		s.ended = make(chan struct{})
	}
	return s.ended, nil
}

// Close ends the session: it cancels its consumers, deletes its exclusive queues and closes its
// mailboxes. The session's deliveries must have been settled or returned before. Close returns once
// all of this is done, so that a client that reconnects finds the names free.
func (s *Session) Close() {
	s.Flush()
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed = true
	if s.ended != nil {
		close(s.ended)
	}
	copiers, exclusive, mailboxes := s.copiers, s.exclusive, s.mailboxes
	s.copiers, s.exclusive, s.mailboxes = nil, nil, nil
	s.mu.Unlock()
	for name := range mailboxes {
		s.b.mailboxes.Close(name)
	}
	for _, k := range copiers {
		k.halt()
	}
	for c := range s.client.TakeAll() {
		if c.Queue.Owner != s {
			s.Cancel(c)
		}
	}
	for _, q := range exclusive {
		s.b.deleteQueue(q)
	}
	s.b.sessions.leave(s)
}
