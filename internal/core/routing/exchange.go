package routing

import (
	"fmt"
	"iter"
	"strconv"
	"strings"

	"fiveways.dev/fiveways/internal/core/message"
)

// The exchange types.
const (
	TypeDirect      = "direct"
	TypeFanout      = "fanout"
	TypeTopic       = "topic"
	TypeHeaders     = "headers"
	TypeHash        = "x-consistent-hash"
	TypeModulusHash = "x-modulus-hash"
	TypeRandom      = "x-random"
	TypeLocalRandom = "x-local-random" // the same, on one node
	TypeDelayed     = "x-delayed-message"
	TypeHistory     = "x-recent-history"
)

// ExchangeSpec is a client's declaration.
type ExchangeSpec struct {
	Name       string
	Type       string
	Durable    bool
	AutoDelete bool
	Internal   bool
	Alternate  string        // the argument alternate-exchange; "" = none
	Args       message.Table // all arguments, as listings show them
}

// Exchange is one exchange as of one Table. It is immutable, except for its traffic counters.
type Exchange struct {
	Spec ExchangeSpec

	alternate string // the one in force: the argument's, otherwise the policy's
	bindings  int
	buffer    Buffer
	traffic   *Traffic
	matcher   matcher    // of bindings without a condition
	selected  []selected // the other bindings, by condition; nil if there are none
}

// matcher finds the destinations of a message among the bindings of one exchange. add and remove
// return the changed matcher; siblings are the other bindings of the same exchange, destination and
// condition.
type matcher interface {
	check(b *Binding) error
	add(b *Binding, others siblings) matcher
	remove(b *Binding, others siblings) matcher
	match(m *Message, r *Route)
}

// BindingCount returns how many bindings have this exchange as their source.
func (x *Exchange) BindingCount() int { return x.bindings }

// Alternate returns the alternate exchange in force: that of the argument, otherwise that of the
// policy, or "" if there is none.
func (x *Exchange) Alternate() string { return x.alternate }

// ValidType reports whether an exchange of this type can be declared.
func ValidType(name string) bool {
	switch name {
	case TypeDirect, TypeFanout, TypeTopic, TypeHeaders, TypeHash, TypeModulusHash, TypeRandom, TypeLocalRandom, TypeDelayed, TypeHistory:
		return true
	}
	return false
}

func newMatcher(spec *ExchangeSpec) (matcher, error) {
	switch spec.Type {
	case TypeDirect:
		return direct{}, nil
	case TypeFanout:
		return fanout{}, nil
	case TypeTopic:
		return topic{}, nil
	case TypeHeaders:
		return headers{}, nil
	case TypeHash:
		return newHash(spec)
	case TypeModulusHash:
		return partition{pick: byRoutingKey}, nil
	case TypeRandom, TypeLocalRandom:
		return partition{pick: atRandom}, nil
	case TypeDelayed:
		return newDelayed(spec)
	case TypeHistory:
		return newHistory(spec)
	}
	return nil, &Error{ErrUnknownType, spec.Name, fmt.Sprintf("unknown exchange type '%s'", spec.Type)}
}

// Exchange looks up an exchange; "" is the default exchange.
func (t *Table) Exchange(name string) (*Exchange, bool) { return t.exchanges.Get(name) }

// Exchanges yields all exchanges by name, the default exchange first.
func (t *Table) Exchanges() iter.Seq[*Exchange] {
	return func(yield func(*Exchange) bool) {
		t.exchanges.Scan(func(_ string, x *Exchange) bool { return yield(x) })
	}
}

// ExchangeCount returns how many exchanges there are.
func (t *Table) ExchangeCount() int { return t.exchanges.Len() }

// DeclareExchange adds an exchange. If one exists with the same type, flags and alternate, the
// table is returned unchanged (other arguments are not compared); otherwise the error is an
// *InequivalentError. Further errors: ErrReservedName, ErrUnknownType, ErrInvalidArgument.
func (t *Table) DeclareExchange(spec ExchangeSpec) (*Table, error) {
	if old, ok := t.exchanges.Get(spec.Name); ok {
		return t, old.compare(&spec)
	}
	if strings.HasPrefix(spec.Name, "amq.") {
		return t, &Error{Kind: ErrReservedName, Exchange: spec.Name}
	}
	return t.addExchange(spec)
}

func (t *Table) addExchange(spec ExchangeSpec) (*Table, error) {
	matcher, err := newMatcher(&spec)
	if err != nil {
		return t, err
	}
	next := t.edit()
	next.exchanges.Set(spec.Name, &Exchange{Spec: spec, alternate: spec.Alternate, matcher: matcher, traffic: &Traffic{}})
	return next, nil
}

func (x *Exchange) compare(spec *ExchangeSpec) error {
	cur := &x.Spec
	differs := func(arg, received, current string) error {
		return &InequivalentError{cur.Name, arg, received, current}
	}
	quoted := func(b bool) string { return "'" + strconv.FormatBool(b) + "'" }
	switch {
	case spec.Type != cur.Type && !ValidType(spec.Type):
		return &Error{ErrUnknownType, spec.Name, fmt.Sprintf("unknown exchange type '%s'", spec.Type)}
	case spec.Type != cur.Type:
		return differs("type", "'"+spec.Type+"'", "'"+cur.Type+"'")
	case spec.Durable != cur.Durable:
		return differs("durable", quoted(spec.Durable), quoted(cur.Durable))
	case spec.AutoDelete != cur.AutoDelete:
		return differs("auto_delete", quoted(spec.AutoDelete), quoted(cur.AutoDelete))
	case spec.Internal != cur.Internal:
		return differs("internal", quoted(spec.Internal), quoted(cur.Internal))
	case spec.Alternate != cur.Alternate:
		typed := spec.Alternate == "" || cur.Alternate == ""
		return differs("alternate-exchange", argPhrase(spec.Alternate, typed), argPhrase(cur.Alternate, typed))
	}
	return nil
}

// argPhrase describes an argument, with its type if there is no other value to compare it with.
func argPhrase(s string, typed bool) string {
	switch {
	case s == "":
		return "none"
	case typed:
		return "the value '" + s + "' of type 'longstr'"
	}
	return "'" + s + "'"
}

// SetPolicyAlternate sets the alternate exchange that a policy gives an exchange ("": none). The
// exchange's own argument takes precedence.
func (t *Table) SetPolicyAlternate(name, alternate string) (*Table, error) {
	x, ok := t.exchanges.Get(name)
	if !ok {
		return t, &Error{Kind: ErrNoExchange, Exchange: name}
	}
	if x.Spec.Alternate != "" {
		alternate = x.Spec.Alternate
	}
	if x.alternate == alternate {
		return t, nil
	}
	changed := *x
	changed.alternate = alternate
	next := t.edit()
	next.exchanges.Set(name, &changed)
	return next, nil
}

// DeleteExchange removes an exchange and the bindings from and to it, which it returns. Errors:
// ErrNoExchange, ErrDefaultExchange, ErrSystemExchange.
func (t *Table) DeleteExchange(name string) (*Table, []Binding, error) {
	switch {
	case name == "":
		return t, nil, &Error{Kind: ErrDefaultExchange}
	case strings.HasPrefix(name, "amq."):
		return t, nil, &Error{Kind: ErrSystemExchange, Exchange: name}
	}
	if _, ok := t.exchanges.Get(name); !ok {
		return t, nil, &Error{Kind: ErrNoExchange, Exchange: name}
	}
	next := t.edit()
	var removed []Binding
	for _, b := range collect(next.bySource, appendPart(nil, name)) {
		next.bySource.Delete(b.sourceKey())
		next.byDest.Delete(b.destKey())
		removed = append(removed, *b)
	}
	removed = append(removed, next.dropDestination(Destination{Exchange: name})...)
	next.exchanges.Delete(name)
	return next, removed, nil
}
