package catalog

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"fiveways.dev/fiveways/internal/core/failure"
)

// Parameter is something that a component above the engine wants to be kept with a virtual host and
// the definitions in it, or with the broker where VHost is "". The engine does not know what it
// means.
type Parameter struct {
	VHost, Component, Name string
	Value                  json.RawMessage
}

// parameters are those of one virtual host, or the broker's own. Readers take mu.
type parameters struct {
	mu     sync.RWMutex
	values map[parameterKey]json.RawMessage // replaced, never changed
}

type parameterKey struct{ component, name string }

// Fact checks a parameter and says what will be. Errors: ErrInvalidName, ErrInvalidParameter.
func (p *Parameter) Fact() (*ParameterFact, error) {
	for _, name := range []string{p.Component, p.Name} {
		if err := CheckLength("parameter", name); err != nil {
			return nil, err
		}
	}
	var value bytes.Buffer
	if err := json.Compact(&value, p.Value); err != nil {
		return nil, &failure.Error{Err: failure.ErrInvalidParameter, Kind: "parameter", Name: p.Name, VHost: p.VHost, Detail: err.Error()}
	}
	return &ParameterFact{VHost: p.VHost, Component: name(p.Component), Name: name(p.Name), Value: value.Bytes()}, nil
}

// NoParameter says that there is no such parameter any more.
func NoParameter(vhost, component, parameter string) *ParameterFact {
	return &ParameterFact{VHost: vhost, Component: name(component), Name: name(parameter), Delete: true}
}

// SetParameter gives a parameter its value, a JSON text. Errors: those of Parameter.Fact.
func (e *Edit) SetParameter(component, parameter string, value json.RawMessage) error {
	f, err := (&Parameter{e.v.Name, component, parameter, value}).Fact()
	if err == nil {
		e.recordParameter(f)
	}
	return err
}

// DeleteParameter deletes a parameter, which need not be there.
func (e *Edit) DeleteParameter(component, parameter string) {
	e.recordParameter(NoParameter(e.v.Name, component, parameter))
}

func (e *Edit) recordParameter(f *ParameterFact) {
	e.parameters = append(e.parameters, f)
	e.facts = f.Append(e.facts)
	e.Durable = true
}

// ApplyParameter makes a fact true; false: its virtual host is not there.
func (s *State) ApplyParameter(f *ParameterFact) bool {
	ps, ok := s.parametersOf(f.VHost)
	if !ok {
		return false
	}
	key := parameterKey{string(f.Component), string(f.Name)}
	ps.mu.Lock()
	if f.Delete {
		delete(ps.values, key)
	} else {
		if ps.values == nil {
			ps.values = map[parameterKey]json.RawMessage{}
		}
		ps.values[key] = f.Value
	}
	ps.mu.Unlock()
	if v, ok := s.VHost(f.VHost); ok {
		v.touch()
	}
	return true
}

// parametersOf are the parameters of a virtual host, or the broker's own for "".
func (s *State) parametersOf(vhost string) (ps *parameters, ok bool) {
	if vhost == "" {
		return &s.own, true
	}
	v, ok := s.VHost(vhost)
	if !ok {
		return nil, false
	}
	return &v.parameters, true
}

// Parameters are the parameters of a component in a virtual host, by name; none in a virtual host
// that is not there. Values are to be read only.
func (s *State) Parameters(vhost, component string) (all []Parameter) {
	ps, ok := s.parametersOf(vhost)
	if !ok {
		return nil
	}
	ps.mu.RLock()
	defer ps.mu.RUnlock()
	for k, value := range ps.values {
		if k.component == component {
			all = append(all, Parameter{vhost, component, k.name, value})
		}
	}
	slices.SortFunc(all, func(a, b Parameter) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Parameter is one parameter; ok is false when there is none of that name.
func (s *State) Parameter(vhost, component, name string) (p Parameter, ok bool) {
	ps, ok := s.parametersOf(vhost)
	if !ok {
		return p, false
	}
	ps.mu.RLock()
	defer ps.mu.RUnlock()
	value, ok := ps.values[parameterKey{component, name}]
	return Parameter{vhost, component, name, value}, ok
}

// Version is VHost.Version for a virtual host by name. 0: there is no such virtual host.
func (s *State) Version(vhost string) uint64 {
	v, ok := s.VHost(vhost)
	if !ok {
		return 0
	}
	return v.Version()
}

// parameterFacts are all facts that must be applied to get the parameters, in a fixed order.
func (s *State) parameterFacts() (facts []Fact) {
	facts = s.own.facts("", nil)
	for _, v := range s.VHosts() {
		facts = v.parameters.facts(v.Name, facts)
	}
	return facts
}

func (ps *parameters) facts(vhost string, facts []Fact) []Fact {
	keys := slices.SortedFunc(maps.Keys(ps.values), func(a, b parameterKey) int {
		return cmp.Or(cmp.Compare(a.component, b.component), cmp.Compare(a.name, b.name))
	})
	for _, k := range keys {
		facts = append(facts, &ParameterFact{VHost: vhost, Component: name(k.component), Name: name(k.name), Value: ps.values[k]})
	}
	return facts
}
