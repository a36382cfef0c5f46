package catalog

import (
	"slices"
	"strings"
	"sync/atomic"

	"fiveways.dev/fiveways/internal/core/access"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/routing"
)

// The actions of permissions.
const (
	Configure = "configure"
	Write     = "write"
	Read      = "read"
)

// defaultExchange is the name of the default exchange in permissions.
const defaultExchange = "amq.default"

// topicType is the type of exchanges that topic permissions apply to.
const topicType = "topic"

func (p *permission) pattern(action string) *access.Pattern {
	switch action {
	case Configure:
		return p.configure
	case Write:
		return p.write
	}
	return p.read
}

// Rights are those of a user in a virtual host: they give access to its definitions and check what
// the user may do. The cached permission to publish belongs to one goroutine. Any goroutine may use
// the rest, unless a method says otherwise.
type Rights struct {
	User     string
	ClientID string // the protocol's name for the client, for topic permissions; "" if it has none
	Operator bool   // may do everything, even with other sessions' exclusive queues
	Owner    any    // the session that owns exclusive queues

	state *State
	in    *VHost
	grant grant
	all   *atomic.Uint64 // the last generation of the users in which the user was seen to have all permissions
}

// RightsIn returns r for this virtual host.
func (v *VHost) RightsIn(r Rights) Rights {
	r.state, r.in, r.all = v.state, v, new(atomic.Uint64)
	return r
}

// Fail returns err with the user, the virtual host and the object.
func (r *Rights) Fail(err error, kind, name string) error {
	return &failure.Error{Err: err, Kind: kind, Name: name, VHost: r.in.Name, User: r.User}
}

// May checks whether the user may perform an action (Configure, Write or Read) on a named object: a
// queue or an exchange ("queue", "exchange"), which need not exist, or another kind of object with
// such a name. It returns ErrAccessRefused if not.
func (r *Rights) May(action, kind, name string) error {
	generation := r.state.users.generation.Load() // read before the users, so that a change in between is noticed next time
	if r.Operator || r.all.Load() == generation {
		return nil
	}
	if kind == "exchange" && name == "" {
		name = defaultExchange
	}
	ok := false
	r.state.users.read(r.User, func(u *user) {
		if u != nil {
			p := u.permissions[r.in.Name]
			if ok = p != nil && p.pattern(action).Match(name); ok && p.configure.Everything() && p.write.Everything() && p.read.Everything() {
				r.all.Store(generation)
			}
		}
	})
	if ok {
		return nil
	}
	return &failure.Error{Err: failure.ErrAccessRefused, Kind: kind, Name: name, VHost: r.in.Name, User: r.User, Action: action}
}

// MayConfigure checks whether the user may declare and delete a queue or an exchange ("queue",
// "exchange") of this name. Declarations check this themselves; protocols call it if they must
// refuse before they look at arguments. It returns ErrAccessRefused if not.
func (r *Rights) MayConfigure(kind, name string) error { return r.May(Configure, kind, name) }

// MayAnything reports whether the user may configure, write or read a queue, which need not exist.
func (r *Rights) MayAnything(queue string) bool {
	return slices.ContainsFunc([]string{Configure, Write, Read}, func(action string) bool { return r.May(action, "queue", queue) == nil })
}

// MayListen checks whether the user may receive everything that is published to an exchange, which
// need not exist. It returns ErrAccessRefused if not.
func (r *Rights) MayListen(exchange string) error {
	if err := r.May(Read, "exchange", exchange); err != nil {
		return err
	}
	return r.mayBindKey(r.in.Table(), exchange, "#")
}

// MayEnter checks whether the user still has access to the virtual host. It returns ErrVHostRefused
// if not.
func (r *Rights) MayEnter() error {
	if r.Operator || r.state.MayEnter(r.User, r.in.Name) {
		return nil
	}
	return r.Fail(failure.ErrVHostRefused, "vhost", r.in.Name)
}

// Impersonates reports whether the user may publish in the name of other users.
func (r *Rights) Impersonates() (ok bool) {
	if r.Operator {
		return true
	}
	r.state.users.read(r.User, func(u *user) { ok = u != nil && slices.Contains(u.tags, TagImpersonator) })
	return ok
}

// MayBind checks whether the user may create or remove a binding, whose ends need not exist.
func (r *Rights) MayBind(spec *BindSpec) error { return r.mayBind(r.in.Table(), spec) }

// mayBind checks, with the exchanges of a table, whether the user may bind or unbind: write on the
// destination, read on the source, and for a topic exchange read on the key.
func (r *Rights) mayBind(t *routing.Table, spec *BindSpec) error {
	kind := "queue"
	if spec.ToExchange {
		kind = "exchange"
	}
	if err := r.May(Write, kind, spec.Destination); err != nil {
		return err
	}
	if spec.Source == "" || spec.ToExchange && spec.Destination == "" {
		return r.Fail(failure.ErrDefaultExchange, "exchange", "") // in RabbitMQ, too, between the two checks
	}
	if err := r.May(Read, "exchange", spec.Source); err != nil {
		return err
	}
	return r.mayBindKey(t, spec.Source, spec.Key)
}

// mayBindKey checks whether the user's topic permission allows binding with a key. It applies only
// to topic exchanges.
func (r *Rights) mayBindKey(t *routing.Table, exchange, key string) error {
	x, ok := t.Exchange(exchange)
	if !ok || x.Spec.Type != topicType {
		return nil
	}
	if p := r.topicPattern(exchange, Read); p != nil && !p.Match(key) {
		return r.topicRefused(Read, exchange, key)
	}
	return nil
}

// topicPattern returns the pattern of the user's topic permission for an exchange, or nil if there
// is none.
func (r *Rights) topicPattern(exchange, action string) (p *access.Pattern) {
	r.state.users.read(r.User, func(u *user) {
		if u == nil {
			return
		}
		if t := u.topics[topicKey{r.in.Name, exchange}]; t != nil {
			template := t.Read
			if action == Write {
				template = t.Write
			}
			p = access.Expand(template, access.Variables{Username: r.User, VHost: r.in.Name, ClientID: r.ClientID})
		}
	})
	return p
}

func (r *Rights) topicRefused(action, exchange, key string) error {
	return &failure.Error{
		Err: failure.ErrAccessRefused, Kind: "exchange", Name: exchange, VHost: r.in.Name, User: r.User, Action: action, Topic: true, Key: key,
	}
}

// grant caches the permission to publish to one exchange at one generation of the users. So a
// publish costs one atomic load and a comparison while its exchange stays the same.
type grant struct {
	generation uint64 // 0: nothing is cached
	every      bool   // every exchange is allowed
	exchange   []byte
	topic      *access.Pattern // over routing keys; nil: unrestricted
}

// MayPublish checks whether the user may publish to an exchange, which need not exist. Only one
// goroutine at a time may call it. It returns ErrAccessRefused if not.
func (r *Rights) MayPublish(exchange []byte) error {
	g := &r.grant
	if g.generation == r.state.users.generation.Load() && (g.every || string(g.exchange) == string(exchange)) {
		return nil
	}
	return r.askPublish(exchange)
}

func (r *Rights) askPublish(exchange []byte) error {
	r.grant.generation = 0
	generation := r.state.users.generation.Load() // read before the users, so that a change in between is noticed next time
	name := string(exchange)
	if err := r.May(Write, "exchange", name); err != nil {
		return err
	}
	r.grant = grant{generation: generation, exchange: append(r.grant.exchange[:0], exchange...), topic: r.topicPattern(name, Write)}
	r.state.users.read(r.User, func(u *user) {
		r.grant.every = u != nil && len(u.topics) == 0 && u.permissions[r.in.Name] != nil &&
			u.permissions[r.in.Name].write.Everything()
	})
	return nil
}

// PublishesFreely reports whether no topic permission restricts the routing keys for the exchange
// that MayPublish allowed last.
func (r *Rights) PublishesFreely() bool { return r.grant.topic == nil }

// MayRoute checks whether the user may publish with this routing key to the exchange that
// MayPublish allowed last. It returns ErrAccessRefused if not.
func (r *Rights) MayRoute(x *routing.Exchange, key []byte) error {
	if p := r.grant.topic; p != nil && x.Spec.Type == topicType && !p.MatchBytes(key) {
		return r.topicRefused(Write, x.Spec.Name, string(key))
	}
	return nil
}

// Usable finds a queue in a table. Exclusive queues are visible only to their owner. Errors:
// ErrQueueNotFound, ErrExclusive, ErrAccessRefused for the queue of an exchange.
func (r *Rights) Usable(t *routing.Table, name string) (*Queue, error) {
	q, ok := r.state.QueueIn(t, name)
	if !ok {
		return nil, r.NoQueue(name)
	}
	if err := r.mayUse(q); err != nil {
		return nil, err
	}
	return q, nil
}

func (r *Rights) mayUse(q *Queue) error {
	if q.Owner != nil && q.Owner != r.Owner && !r.Operator {
		return r.Fail(failure.ErrExclusive, "queue", q.Name)
	}
	return nil
}

// NoQueue returns the error for a queue name that does not exist.
func (r *Rights) NoQueue(name string) error {
	if exchange, ok := strings.CutPrefix(name, bufferPrefix); ok {
		if x, ok := r.in.Table().Exchange(exchange); ok && x.Buffer().Queue != 0 {
			return r.Fail(failure.ErrAccessRefused, "queue", name)
		}
	}
	return r.Fail(failure.ErrQueueNotFound, "queue", name)
}

// CompareQueue fails like a declaration if a queue of this name exists and is not equivalent.
// Protocols call it before they refuse arguments, because such an error has precedence. Errors:
// ErrExclusive, ErrInequivalent.
func (r *Rights) CompareQueue(spec *QueueSpec) error {
	q, ok := r.in.Queue(spec.Name)
	if !ok {
		return nil
	}
	return r.Compare(q, spec)
}

// Compare fails if the declaration is not equivalent to q, or if q is exclusive to another session.
// Errors: ErrExclusive, ErrInequivalent.
func (r *Rights) Compare(q *Queue, spec *QueueSpec) error {
	if q.Owner != nil && q.Owner != r.Owner {
		return r.Fail(failure.ErrExclusive, "queue", spec.Name)
	}
	return q.equivalent(spec)
}

// ExchangePolicy returns the names of the policies that apply to an exchange of the virtual host.
func (r *Rights) ExchangePolicy(name string) Applied {
	rules := r.in.rules()
	if rules == nil || name == "" {
		return Applied{}
	}
	_, applied := rules.Exchange(name)
	return applied
}
