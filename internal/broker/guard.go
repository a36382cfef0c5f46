package broker

import (
	"slices"

	"fiveways/internal/core/access"
	"fiveways/internal/core/routing"
)

// What a permission is about.
const (
	toConfigure = "configure"
	toWrite     = "write"
	toRead      = "read"
)

// defaultExchange is the default exchange's name in permissions.
const defaultExchange = "amq.default"

// topicType is the type of the exchanges that topic permissions are about.
const topicType = "topic"

func (p *permission) pattern(action string) *access.Pattern {
	switch action {
	case toConfigure:
		return p.configure
	case toWrite:
		return p.write
	}
	return p.read
}

// may tells whether the session's user may do something to a queue or an exchange, there or not. Errors:
// ErrAccessRefused.
func (s *Session) may(action, kind, name string) error {
	if s.operator {
		return nil
	}
	if kind == "exchange" && name == "" {
		name = defaultExchange
	}
	ok := false
	s.b.rules.read(s.User, func(u *user) {
		if u != nil {
			p := u.permissions[s.vhost.Name]
			ok = p != nil && p.pattern(action).Match(name)
		}
	})
	if ok {
		return nil
	}
	return &Error{Err: ErrAccessRefused, Kind: kind, Name: name, VHost: s.vhost.Name, User: s.User, Action: action}
}

// MayConfigure tells whether the user may declare and delete a queue or an exchange ("queue", "exchange") of that name.
// Every method of Session asks what it must by itself; this is for protocols that must refuse before they look at
// arguments. Errors: ErrAccessRefused.
func (s *Session) MayConfigure(kind, name string) error { return s.may(toConfigure, kind, name) }

// May tells whether the user may do something, "configure", "write" or "read", to what is neither a queue nor an exchange but has names as they have:
// a semaphore. Any goroutine may call it. Errors: ErrAccessRefused.
func (s *Session) May(action, kind, name string) error { return s.may(action, kind, name) }

// MayAnything tells whether the user may configure, write or read a queue, there or not.
func (s *Session) MayAnything(queue string) bool {
	for _, action := range []string{toConfigure, toWrite, toRead} {
		if s.may(action, "queue", queue) == nil {
			return true
		}
	}
	return false
}

// MayRead tells whether the session may consume from a queue, which has to be there. Protocols ask before they look at arguments, so that an
// error tells of these only who may know.
func (s *Session) MayRead(queue string) error {
	if err := s.may(toRead, "queue", queue); err != nil {
		return err
	}
	_, err := s.usableQueue(queue)
	return err
}

// MayListen tells whether the user may get all that is published to an exchange, there or not. Errors: ErrAccessRefused.
func (s *Session) MayListen(exchange string) error {
	if err := s.may(toRead, "exchange", exchange); err != nil {
		return err
	}
	return s.mayBindKey(s.vhost.table.Load(), exchange, "#")
}

// MayEnter tells whether the user still may be in the session's virtual host. Errors: ErrVHostRefused.
func (s *Session) MayEnter() error {
	if s.operator || s.b.rules.mayEnter(s.User, s.vhost.Name) {
		return nil
	}
	return &Error{Err: ErrVHostRefused, Kind: "vhost", Name: s.vhost.Name, VHost: s.vhost.Name, User: s.User}
}

// Impersonates tells whether the user may publish in the name of others.
func (s *Session) Impersonates() (ok bool) {
	if s.operator {
		return true
	}
	s.b.rules.read(s.User, func(u *user) { ok = u != nil && slices.Contains(u.tags, TagImpersonator) })
	return ok
}

// MayBind tells whether the user may make or remove a binding, whose ends need not be there.
func (s *Session) MayBind(spec *BindSpec) error { return s.mayBind(s.vhost.table.Load(), spec) }

// mayBind tells, of the exchanges of a table, whether the user may bind or unbind: write on the destination, read on the source, and for a topic
// exchange read on the key.
func (s *Session) mayBind(t *routing.Table, spec *BindSpec) error {
	kind := "queue"
	if spec.ToExchange {
		kind = "exchange"
	}
	if err := s.may(toWrite, kind, spec.Destination); err != nil {
		return err
	}
	if err := s.may(toRead, "exchange", spec.Source); err != nil {
		return err
	}
	return s.mayBindKey(t, spec.Source, spec.Key)
}

// mayBindKey tells whether the user's topic permission, if there is one and the exchange is a topic exchange, allows to bind with a key.
func (s *Session) mayBindKey(t *routing.Table, exchange, key string) error {
	x, ok := t.Exchange(exchange)
	if !ok || x.Spec.Type != topicType {
		return nil
	}
	if p := s.topicPattern(exchange, toRead); p != nil && !p.Match(key) {
		return s.topicRefused(toRead, exchange, key)
	}
	return nil
}

// topicPattern is what the user's topic permission for an exchange says; nil when there is none.
func (s *Session) topicPattern(exchange, action string) (p *access.Pattern) {
	s.b.rules.read(s.User, func(u *user) {
		if u == nil {
			return
		}
		if t := u.topics[topicKey{s.vhost.Name, exchange}]; t != nil {
			template := t.Read
			if action == toWrite {
				template = t.Write
			}
			p = access.Expand(template, access.Variables{Username: s.User, VHost: s.vhost.Name, ClientID: s.clientID})
		}
	})
	return p
}

func (s *Session) topicRefused(action, exchange, key string) error {
	return &Error{
		Err: ErrAccessRefused, Kind: "exchange", Name: exchange, VHost: s.vhost.Name, User: s.User, Action: action, Topic: true, Key: key,
	}
}

// grant is what a session remembers of the permission to publish: that a name was allowed, at a generation of the
// rules. So a publish costs one atomic load and a comparison while its exchange stays the same.
type grant struct {
	generation uint64 // 0: nothing is remembered
	every      bool   // any exchange will do
	exchange   []byte
	topic      *access.Pattern // over the routing keys, nil: unrestricted
}

// MayPublish tells whether the user may publish to an exchange, there or not. Route asks by itself; this is for
// messages that are not routed. Errors: ErrAccessRefused.
func (s *Session) MayPublish(exchange []byte) error {
	g := &s.grant
	if g.generation == s.b.rules.generation.Load() && (g.every || string(g.exchange) == string(exchange)) {
		return nil
	}
	return s.askPublish(exchange)
}

func (s *Session) askPublish(exchange []byte) error {
	s.grant.generation = 0
	generation := s.b.rules.generation.Load() // before the rules: a change in between is noticed next time
	name := string(exchange)
	if err := s.may(toWrite, "exchange", name); err != nil {
		return err
	}
	s.grant = grant{generation: generation, exchange: append(s.grant.exchange[:0], exchange...), topic: s.topicPattern(name, toWrite)}
	s.b.rules.read(s.User, func(u *user) {
		s.grant.every = u != nil && len(u.topics) == 0 && u.permissions[s.vhost.Name] != nil &&
			u.permissions[s.vhost.Name].write.Everything()
	})
	return nil
}
