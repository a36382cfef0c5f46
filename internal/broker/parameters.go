package broker

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Parameter is something that a component above the engine wants to be kept with a virtual host and the definitions in it, or with the broker where
// VHost is "". The engine does not know what it means.
type Parameter struct {
	VHost, Component, Name string
	Value                  json.RawMessage
}

// parameters are those of one virtual host, or the broker's own. They change under catalog.mu and mu; readers take mu.
type parameters struct {
	mu     sync.RWMutex
	values map[parameterKey]json.RawMessage // replaced, never changed
}

type parameterKey struct{ component, name string }

// factParameter is the fact about parameters: a JSON object in the log of the definitions. It has a type of its own, for a version
// that ignored them would not know what they protect. Never renumber.
const factParameter = 18

// parameterFact says that a parameter has a value from now on or, with Delete, is no more.
type parameterFact struct {
	VHost     string          `json:"vhost"`
	Component name            `json:"component"`
	Name      name            `json:"name"`
	Value     json.RawMessage `json:"value,omitempty"`
	Delete    bool            `json:"delete,omitempty"`
}

func (f *parameterFact) append(dst []byte) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // the value stays as it is
	if err := e.Encode(f); err != nil {
		panic("broker: a parameter fact cannot be encoded: " + err.Error()) // the value was checked: cannot happen
	}
	text := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	return append(appendFact(dst, factParameter, len(text)), text...)
}

// Parameters are the parameters of a component in a virtual host, by name; none in a virtual host that is not there. Values are to
// be read only.
func (b *Broker) Parameters(vhost, component string) (all []Parameter) {
	ps, ok := b.catalog.parametersOf(vhost)
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

// parametersOf are the parameters of a virtual host, or the broker's own for "".
func (c *catalog) parametersOf(vhost string) (ps *parameters, ok bool) {
	if vhost == "" {
		return &c.parameters, true
	}
	v, ok := c.vhost(vhost)
	if !ok {
		return nil, false
	}
	return &v.parameters, true
}

// Parameter is one parameter; ok is false when there is none of that name.
func (b *Broker) Parameter(vhost, component, name string) (p Parameter, ok bool) {
	ps, ok := b.catalog.parametersOf(vhost)
	if !ok {
		return p, false
	}
	ps.mu.RLock()
	defer ps.mu.RUnlock()
	value, ok := ps.values[parameterKey{component, name}]
	return Parameter{vhost, component, name, value}, ok
}

// SetParameter gives a parameter its value, a JSON text, and returns when that is durable. Errors: ErrVHostNotFound, ErrInvalidName,
// ErrInvalidParameter, ErrLogFailed.
func (b *Broker) SetParameter(p Parameter) error {
	f, err := p.fact()
	if err != nil {
		return err
	}
	return b.changeParameter(f)
}

// DeleteParameter deletes a parameter, which need not be there, and returns when that is durable. Errors: ErrVHostNotFound,
// ErrLogFailed.
func (b *Broker) DeleteParameter(vhost, component, parameter string) error {
	return b.changeParameter(&parameterFact{VHost: vhost, Component: name(component), Name: name(parameter), Delete: true})
}

// fact checks a parameter and says what will be.
func (p *Parameter) fact() (*parameterFact, error) {
	for _, name := range []string{p.Component, p.Name} {
		if err := checkLength("parameter", name); err != nil {
			return nil, err
		}
	}
	var value bytes.Buffer
	if err := json.Compact(&value, p.Value); err != nil {
		return nil, &Error{Err: ErrInvalidParameter, Kind: "parameter", Name: p.Name, VHost: p.VHost, Detail: err.Error()}
	}
	return &parameterFact{VHost: p.VHost, Component: name(p.Component), Name: name(p.Name), Value: value.Bytes()}, nil
}

func (b *Broker) changeParameter(f *parameterFact) error {
	c := b.catalog
	c.mu.Lock()
	if !c.applyParameter(f) {
		c.mu.Unlock()
		return vhostNotFound(f.VHost)
	}
	index := c.recordData(f.append(nil))
	var heard *sync.WaitGroup
	if c.isPolicy(string(f.Component)) {
		v, _ := c.vhost(f.VHost)
		heard = c.enforce(v)
	}
	c.mu.Unlock()
	if heard != nil {
		heard.Wait()
	}
	err := c.await(index)
	b.watchers.tell(string(f.Component))
	return err
}

// parameterWatchers are those who follow parameters, by component.
type parameterWatchers struct {
	mu  sync.Mutex
	fns map[string][]func()
}

// OnParameters has fn called after each change of parameters of a component, which a deletion of their virtual host is, too. It runs on the goroutine of
// who made the change, and must not block.
func (b *Broker) OnParameters(component string, fn func()) {
	b.watchers.mu.Lock()
	if b.watchers.fns == nil {
		b.watchers.fns = map[string][]func(){}
	}
	b.watchers.fns[component] = append(b.watchers.fns[component], fn)
	b.watchers.mu.Unlock()
	b.OnVHostDeleted(func(VHostID) { fn() })
}

func (w *parameterWatchers) tell(component string) {
	w.mu.Lock()
	fns := w.fns[component]
	w.mu.Unlock()
	for _, fn := range fns {
		fn()
	}
}

// applyParameter makes a fact true; false: its virtual host is not there. mu is held, or nobody else runs.
func (c *catalog) applyParameter(f *parameterFact) bool {
	ps, ok := c.parametersOf(f.VHost)
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
	if v, ok := c.vhost(f.VHost); ok {
		v.touch()
	}
	return true
}

// replayParameter replays one fact without its type. What it says of a virtual host that is not there is over.
func (c *catalog) replayParameter(index uint64, payload []byte) error {
	var f parameterFact
	if err := json.Unmarshal(payload, &f); err != nil {
		return fmt.Errorf("topology entry %d: %w", index, err)
	}
	c.index = max(c.index, index)
	c.applyParameter(&f)
	return nil
}

// parameterFacts are all facts that must be replayed to get the parameters, in a fixed order. mu is held.
func (c *catalog) parameterFacts() (facts []*parameterFact) {
	facts = c.parameters.facts("", nil)
	for _, v := range c.sortedVHosts() {
		facts = v.parameters.facts(v.Name, facts)
	}
	return facts
}

func (ps *parameters) facts(vhost string, facts []*parameterFact) []*parameterFact {
	keys := slices.SortedFunc(maps.Keys(ps.values), func(a, b parameterKey) int {
		return cmp.Or(cmp.Compare(a.component, b.component), cmp.Compare(a.name, b.name))
	})
	for _, k := range keys {
		facts = append(facts, &parameterFact{VHost: vhost, Component: name(k.component), Name: name(k.name), Value: ps.values[k]})
	}
	return facts
}

// Version is a number that is another one after every change of the exchanges, queues, bindings and parameters of a virtual host, for
// those who remember what they found there: read it first, then the definitions. 0: there is no such virtual host.
func (b *Broker) Version(vhost string) uint64 {
	v, ok := b.catalog.vhost(vhost)
	if !ok {
		return 0
	}
	return v.version.Load()
}

// Version is Broker.Version for the session's virtual host.
func (s *Session) Version() uint64 { return s.vhost.version.Load() }

// touch gives the virtual host a version that none had before. It comes after the change.
func (v *VHost) touch() { v.version.Store(v.b.versions.Add(1)) }
