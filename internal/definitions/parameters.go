package definitions

import (
	"sync"

	"fiveways.dev/fiveways/internal/core/catalog"
)

// Parameters are the parameters of a component in a virtual host, by name; none in a virtual host
// that is not there. Values are to be read only.
func (a *Admin) Parameters(vhost, component string) []catalog.Parameter {
	return a.state.Parameters(vhost, component)
}

// Parameter is one parameter; ok is false when there is none of that name.
func (a *Admin) Parameter(vhost, component, name string) (p catalog.Parameter, ok bool) {
	return a.state.Parameter(vhost, component, name)
}

// SetParameter gives a parameter its value, a JSON text, and returns when that is durable. Errors:
// ErrVHostNotFound, ErrInvalidName, ErrInvalidParameter, ErrLogFailed.
func (a *Admin) SetParameter(p catalog.Parameter) error {
	f, err := p.Fact()
	if err != nil {
		return err
	}
	return a.changeParameter(f)
}

// DeleteParameter deletes a parameter, which need not be there, and returns when that is durable.
// Errors: ErrVHostNotFound, ErrLogFailed.
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
