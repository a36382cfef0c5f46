package policies

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/declareargs"
)

// Engine implements catalog.Policies with RabbitMQ's policies.
type Engine struct{}

// Component implements catalog.Policies.
func (Engine) Component(name string) bool { return name == Component || name == OperatorComponent }

// Compile implements catalog.Policies.
func (Engine) Compile(parameters []catalog.Parameter) catalog.Rules {
	r := &rules{}
	for _, parameter := range parameters {
		operator := parameter.Component == OperatorComponent
		p, wrong := parse(parameter.Name, operator, parameter.Value)
		switch {
		case len(wrong) > 0:
		case operator:
			r.operators = append(r.operators, p)
		default:
			r.policies = append(r.policies, p)
		}
	}
	slices.SortFunc(r.policies, precedes)
	slices.SortFunc(r.operators, precedes)
	return r
}

// precedes orders policies: the first match applies.
func precedes(a, b *policy) int {
	return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.name, b.name))
}

// rules holds the policies of one virtual host.
type rules struct {
	policies, operators []*policy
	merged              sync.Map // pair → *effective
}

// pair holds the policies that apply to a queue; each may be nil.
type pair struct{ policy, operator *policy }

// effective is the combination of a pair.
type effective struct {
	catalog.Applied
	settings map[string]any
}

// Queue implements catalog.Rules.
func (r *rules) Queue(name string, args message.Table, declared catalog.QueuePolicy) catalog.Ruling {
	kind := kindOf(args)
	e := r.together(pair{chosen(r.policies, name, kind), chosen(r.operators, name, kind)})
	ruling := catalog.Ruling{QueuePolicy: declared, Applied: e.Applied}
	for name, v := range e.settings {
		k := keys[name]
		if k.rule == nil {
			continue
		}
		_, given := args.Get("x-" + name)
		k.rule(&ruling, v, given && kind != streams && !(kind == quorumQueues && overQuorum[name]))
	}
	return ruling
}

// overQuorum holds the settings of a policy that take precedence over a quorum queue's own
// arguments. For a stream all of them do.
var overQuorum = map[string]bool{"overflow": true, "expires": true}

// kindOf returns the type of a queue with these arguments.
func kindOf(args message.Table) target {
	switch kind, _ := args.Get("x-queue-type"); kind {
	case "quorum":
		return quorumQueues
	case declareargs.StreamType:
		return streams
	}
	return classicQueues
}

// Exchange implements catalog.Rules.
func (r *rules) Exchange(name string) (alternate string, applied catalog.Applied) {
	p := chosen(r.policies, name, exchanges)
	if p == nil {
		return "", catalog.Applied{}
	}
	alternate, _ = p.definition["alternate-exchange"].(string)
	return alternate, catalog.Applied{Policy: p.name}
}

// chosen returns the first policy that applies to a name of this kind, or nil.
func chosen(policies []*policy, name string, kind target) *policy {
	for _, p := range policies {
		if p.to&kind != 0 && p.hinders&kind == 0 && p.pattern.Match(name) {
			return p
		}
	}
	return nil
}

// together merges a policy and an operator policy.
func (r *rules) together(p pair) *effective {
	if e, ok := r.merged.Load(p); ok {
		return e.(*effective)
	}
	e, _ := r.merged.LoadOrStore(p, merge(p))
	return e.(*effective)
}

func merge(p pair) *effective {
	e := &effective{settings: map[string]any{}}
	if p.policy != nil {
		e.Policy = p.policy.name
		maps.Copy(e.settings, p.policy.definition)
	}
	if p.operator != nil {
		e.OperatorPolicy = p.operator.name
		for name, v := range p.operator.definition {
			if of, both := e.settings[name]; both {
				v = keys[name].merge(of, v)
			}
			e.settings[name] = v
		}
	}
	if len(e.settings) > 0 {
		definition, err := json.Marshal(e.settings)
		if err != nil {
			panic("policies: a definition cannot be encoded: " + err.Error()) // it was decoded before
		}
		e.Definition = string(definition)
	}
	return e
}
