package catalog

import (
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/routing"
)

// Policies make rules for queues and exchanges of the parameters of their virtual host. What a rule
// changes must be true again after each start, so nothing that happens is decided by rules when the
// log is replayed: the facts say what came of them.
type Policies interface {
	// Component reports whether the parameters of a component are policies.
	Component(name string) bool
	// Compile makes the rules of a virtual host. What cannot be used is left out.
	Compile(policies []Parameter) Rules
}

// Rules are the policies of one virtual host. They never change and are asked from many goroutines.
type Rules interface {
	// Queue is what counts for a queue with these arguments. What gives a queue its structure, from
	// MaxPriority to DedupTTL, stays as declared.
	Queue(name string, args message.Table, declared QueuePolicy) Ruling
	// Exchange is the alternate exchange that policies give an exchange, "" none. The exchange's
	// own argument wins.
	Exchange(name string) (alternate string, applied Applied)
}

// Applied names the policies that count for a queue or an exchange.
type Applied struct {
	Policy         string // "" none
	OperatorPolicy string // "" none
	Definition     string // what both say together, a JSON object; "" when there is none
}

// Ruling is what counts for a queue: its declaration, and policies.
type Ruling struct {
	QueuePolicy
	Applied
	Rates
}

// Rates bound what is published, 0 = not.
type Rates struct {
	Messages int64 // per second
	Bytes    int64 // of bodies, per second
}

// Ruled asks the policies about the queue; nil: its declaration counts.
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

// IsPolicy reports whether parameters of a component are policies.
func (s *State) IsPolicy(component string) bool {
	return s.options.Policies != nil && s.options.Policies.Component(component)
}

// Compile makes the rules of the virtual host from its parameters and gives exchanges the alternate
// exchanges that the rules name. It is for changes of definitions, which then have each queue ruled
// again.
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

// redirect gives exchanges the alternate exchanges that policies say.
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

// withAlternate is the table in which an exchange has the alternate that policies give it.
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
