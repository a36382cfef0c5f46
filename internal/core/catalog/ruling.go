package catalog

import (
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/routing"
)

// Policies compiles the parameters of virtual hosts to rules for queues and exchanges. Rules must
// not decide anything during a replay of the log, because they may have changed since: facts record
// the outcomes.
type Policies interface {
	// Component reports whether the parameters of a component are policies.
	Component(name string) bool
	// Compile compiles the rules of a virtual host. It skips unusable parameters.
	Compile(policies []Parameter) Rules
}

// Rules are the policies of one virtual host. They are immutable, and many goroutines use them.
type Rules interface {
	// Queue returns the rules for a queue with these arguments. The settings that determine a
	// queue's structure, from MaxPriority to DedupTTL, stay as declared.
	Queue(name string, args message.Table, declared QueuePolicy) Ruling
	// Exchange returns the alternate exchange that policies set for an exchange, or "" if none. The
	// exchange's own argument takes precedence.
	Exchange(name string) (alternate string, applied Applied)
}

// Applied names the policies that apply to a queue or an exchange.
type Applied struct {
	Policy         string // "": none
	OperatorPolicy string // "": none
	Definition     string // both combined, a JSON object; "": none
}

// Ruling is the rules in force for a queue: its declaration, and policies.
type Ruling struct {
	QueuePolicy
	Applied
	Rates
}

// Rates limit publishing; 0 means no limit.
type Rates struct {
	Messages int64 // per second
	Bytes    int64 // of bodies, per second
}

// Ruled returns the queue's ruling, or nil if only its declaration applies.
func (q *Queue) Ruled() *Ruling {
	rules := q.In.rules()
	if rules == nil || q.Buffer != nil {
		return nil
	}
	r := rules.Queue(q.Name, q.Args, *q.Declared)
	r.keepStructure(q.Declared)
	return &r
}

// rules returns the policies of the virtual host, or nil if it has none.
func (v *VHost) rules() Rules {
	if r := v.policies.Load(); r != nil {
		return *r
	}
	return nil
}

// IsPolicy reports whether the parameters of a component are policies.
func (s *State) IsPolicy(component string) bool {
	return s.options.Policies != nil && s.options.Policies.Component(component)
}

// Compile compiles the rules of the virtual host from its parameters, and sets the alternate
// exchanges that they name. Only changes of definitions call it; they then apply the rules to each
// queue.
func (v *VHost) Compile() {
	var policies []Parameter
	for k, value := range v.parameters.values {
		if v.state.IsPolicy(k.component) {
			policies = append(policies, Parameter{v.Name, k.component, k.name, value})
		}
	}
	if len(policies) == 0 {
		v.policies.Store(nil)
	} else {
		rules := v.state.options.Policies.Compile(policies)
		v.policies.Store(&rules)
	}
	v.redirect()
}

// redirect sets the alternate exchanges that policies name.
func (v *VHost) redirect() {
	before := v.Table()
	t := before
	for x := range before.Exchanges() {
		t = v.withAlternate(t, x.Spec.Name)
	}
	if t != before {
		v.setTable(t)
	}
}

// withAlternate returns a table in which an exchange has the alternate exchange of its policy.
func (v *VHost) withAlternate(t *routing.Table, exchange string) *routing.Table {
	alternate := ""
	if rules := v.rules(); rules != nil && exchange != "" {
		alternate, _ = rules.Exchange(exchange)
	}
	if next, err := t.SetPolicyAlternate(exchange, alternate); err == nil {
		return next
	}
	return t
}
