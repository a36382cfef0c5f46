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

// Parameter is a value that a component above the engine keeps with a virtual host and its
// definitions, or with the broker if VHost is "". The engine does not interpret it.
type Parameter struct {
	VHost, Component, Name string
	Value                  json.RawMessage
}

// parameters are the parameters of one virtual host, or the broker's own. Readers take mu.
type parameters struct {
	mu     sync.RWMutex
	values map[parameterKey]json.RawMessage // replaced, never changed
}

type parameterKey struct{ component, name string }

// Fact checks a parameter and returns the fact that sets it. Errors: ErrInvalidName,
// ErrInvalidParameter.
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

// NoParameter returns the fact that deletes a parameter.
func NoParameter(vhost, component, parameter string) *ParameterFact {
	return &ParameterFact{VHost: vhost, Component: name(component), Name: name(parameter), Delete: true}
}

// SetParameter sets a parameter to value, a JSON text. It returns the errors of Parameter.Fact.
func (e *Edit) SetParameter(component, parameter string, value json.RawMessage) error {
	f, err := (&Parameter{e.v.Name, component, parameter, value}).Fact()
	if err == nil {
		e.recordParameter(f)
	}
	return err
}

// AlterParameter sets a parameter that existed before the edit to what alter returns for its value;
// nil changes nothing. Errors: those of SetParameter.
func (e *Edit) AlterParameter(component, parameter string, alter func(json.RawMessage) json.RawMessage) error {
	p, ok := e.state.Parameter(e.v.Name, component, parameter)
	if !ok {
		return nil
	}
	if value := alter(p.Value); value != nil {
		return e.SetParameter(component, parameter, value)
	}
	return nil
}

// DeleteParameter deletes a parameter. It need not exist.
func (e *Edit) DeleteParameter(component, parameter string) {
	e.recordParameter(NoParameter(e.v.Name, component, parameter))
}

func (e *Edit) recordParameter(f *ParameterFact) {
	e.parameters = append(e.parameters, f)
	e.facts = f.Append(e.facts)
	e.Durable = true
}

// ApplyParameter applies a fact. It returns false if the virtual host does not exist.
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

// parametersOf returns the parameters of a virtual host, or the broker's own for "".
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

// Parameters returns the parameters of a component in a virtual host, by name; none if the virtual
// host does not exist. Values must not be changed.
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

// Parameter returns one parameter; ok is false if it does not exist.
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

// Version returns VHost.Version of the named virtual host, or 0 if it does not exist.
func (s *State) Version(vhost string) uint64 {
	v, ok := s.VHost(vhost)
	if !ok {
		return 0
	}
	return v.Version()
}

// parameterFacts returns the facts that recreate the parameters, in a fixed order.
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
