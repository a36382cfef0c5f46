package definitions

import (
	"sync"

	"fiveways.dev/fiveways/internal/core/catalog"
)

// Parameters returns the parameters of a component in a virtual host, by name. It returns none if
// the virtual host does not exist. The values are read-only.
func (a *Admin) Parameters(vhost, component string) []catalog.Parameter {
	return a.state.Parameters(vhost, component)
}

// Parameter returns a parameter. ok is false if it does not exist.
func (a *Admin) Parameter(vhost, component, name string) (p catalog.Parameter, ok bool) {
	return a.state.Parameter(vhost, component, name)
}

// SetParameter sets the value of a parameter, a JSON text, and returns when that is durable.
// Errors: ErrVHostNotFound, ErrInvalidName, ErrInvalidParameter, ErrLogFailed.
func (a *Admin) SetParameter(p catalog.Parameter) error {
	f, err := p.Fact()
	if err != nil {
		return err
	}
	return a.changeParameter(f)
}

// DeleteParameter deletes a parameter, if it exists, and returns when that is durable. Errors:
// ErrVHostNotFound, ErrLogFailed.
func (a *Admin) DeleteParameter(vhost, component, parameter string) error {
	return a.changeParameter(catalog.NoParameter(vhost, component, parameter))
}

func (a *Admin) changeParameter(f *catalog.ParameterFact) error {
	a.journal.Lock()
	if !a.state.ApplyParameter(f) {
		a.journal.Unlock()
		return catalog.VHostNotFound(f.VHost)
	}
	index := a.journal.Record(f.Append(nil))
	var heard *sync.WaitGroup
	if v, ok := a.state.VHost(f.VHost); ok && a.state.IsPolicy(string(f.Component)) {
		heard = a.engine.Enforce(v)
	}
	a.journal.Unlock()
	if heard != nil {
		heard.Wait()
	}
	err := a.journal.Await(index)
	a.watchers.tell(string(f.Component))
	return err
}
