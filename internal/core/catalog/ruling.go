package catalog

import (
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/routing"
)

// Policies compile the parameters of virtual hosts to rules for queues and exchanges. Rules must
// not decide anything in a replay of the log, because they may have changed: facts record the
// outcomes.
type Policies interface {
	// Component reports whether the parameters of a component are policies.
	Component(name string) bool
	// Compile compiles the rules of a virtual host. It skips what cannot be used.
	Compile(policies []Parameter) Rules
}

// Rules are the policies of one virtual host. They never change; many goroutines use them.
type Rules interface {
	// Queue returns the rules for a queue with these arguments. What determines a queue's
	// structure, from MaxPriority to DedupTTL, stays as declared.
	Queue(name string, args message.Table, declared QueuePolicy) Ruling
	// Exchange returns the alternate exchange that policies give an exchange, "" if none. The
	// exchange's own argument wins.
	Exchange(name string) (alternate string, applied Applied)
}

// Applied names the policies that apply to a queue or an exchange.
type Applied struct {
	Policy         string // "" none
	OperatorPolicy string // "" none
	Definition     string // the combination of both, a JSON object; "" if there is none
}

// Ruling is the rules in force for a queue: its declaration, and policies.
type Ruling struct {
	QueuePolicy
	Applied
	Rates
}

// Rates limit what is published, 0: no limit.
type Rates struct {
	Messages int64 // per second
	Bytes    int64 // of bodies, per second
}

// Ruled returns the queue's ruling; nil: only its declaration applies.
func (q *Queue) Ruled() *Ruling {
	rules := q.In.rules()
	if rules == nil || q.Buffer != nil {
		return nil
	}
	r := rules.Queue(q.Name, q.Args, *q.Declared)
	r.keepStructure(q.Declared)
	return &r
}

// rules are the policies of the virtual host, nil when it has none.
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
// exchanges that they name. It is for changes of definitions, which then apply the rules to each
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

// withAlternate returns the table in which an exchange has the alternate exchange of its policy.
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
