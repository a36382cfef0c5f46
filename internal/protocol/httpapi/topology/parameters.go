package topology

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/policies"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// parameter is a parameter of a virtual host as the API shows it.
type parameter struct {
	Value     json.RawMessage `json:"value"`
	VHost     string          `json:"vhost"`
	Component string          `json:"component"`
	Name      string          `json:"name"`
}

// parameterChange sets a parameter. Only the value is used; the other fields repeat the path.
type parameterChange struct {
	Value json.RawMessage `json:"value"`
}

func (t *topology) parameterPaths() {
	t.Get(rest.Policymaking, "/api/parameters", t.listParameters)
	t.Get(rest.Policymaking, "/api/parameters/{component}", t.listParameters)
	t.Get(rest.Policymaking, "/api/parameters/{component}/{vhost}", t.listParameters)
	const one = "/api/parameters/{component}/{vhost}/{name}"
	t.Get(rest.Policymaking, one, func(r *http.Request) (any, error) {
		p, err := t.theParameter(r)
		return newParameter(p), err
	})
	t.Handle(rest.Policymaking, "PUT "+one, t.setParameter)
	t.Delete(rest.Policymaking, one, func(r *http.Request) error {
		p, err := t.theParameter(r)
		if err == nil && isPolicy(p.Component) {
			err = errPolicy
		}
		if err != nil {
			return err
		}
		return t.Broker.DeleteParameter(p.VHost, p.Component, p.Name)
	})
}

func newParameter(p catalog.Parameter) parameter {
	return parameter{p.Value, p.VHost, p.Component, p.Name}
}

// theParameter returns the parameter in the path. Parameters of other parts of the broker are
// hidden.
func (t *topology) theParameter(r *http.Request) (p catalog.Parameter, err error) {
	component := rest.Name(r, "component")
	p, ok := t.Broker.Parameter(rest.Name(r, "vhost"), component, rest.Name(r, "name"))
	if !ok || components[component] == nil && !isPolicy(component) {
		return p, rest.ErrNotThere
	}
	return p, nil
}

func (t *topology) listParameters(r *http.Request) (any, error) {
	wanted := append(slices.Sorted(maps.Keys(components)), policies.OperatorComponent) // as in RabbitMQ; policies are shown only if asked for
	if component := rest.Name(r, "component"); component == policies.Component {
		wanted = []string{component}
	} else if component != "" {
		wanted = slices.DeleteFunc(wanted, func(c string) bool { return c != component })
	}
	out := []parameter{}
	for _, vhost := range t.visible(r) {
		for _, component := range wanted {
			out = append(out, rest.List(t.Broker.Parameters(vhost, component), newParameter)...)
		}
	}
	return out, nil
}

func (t *topology) setParameter(r *http.Request) (rest.Answer, error) {
	var in parameterChange
	if err := rest.DecodeOptional(r, &in); err != nil {
		return rest.Answer{}, err
	}
	if in.Value == nil {
		return rest.Answer{}, errNoValue
	}
	p := catalog.Parameter{VHost: rest.Name(r, "vhost"), Component: rest.Name(r, "component"), Name: rest.Name(r, "name"), Value: in.Value}
	if err := checkParameter(p.Component, p.Name, p.Value, t.accessOf(r)); err != nil {
		return rest.Answer{}, err
	}
	return t.keep(p)
}

// isPolicy reports whether parameters of a component have paths of their own, which require other
// tags.
func isPolicy(component string) bool { return policies.Engine{}.Component(component) }

// errPolicy is the error for changing policies as parameters.
var errPolicy = rest.BadRequest("policies may not be set using this method")

var errNoValue = rest.BadRequest("[{key_missing,value}]")

// keep sets a parameter. The status of the answer depends on whether it existed.
func (t *topology) keep(p catalog.Parameter) (rest.Answer, error) {
	status := http.StatusCreated
	if _, there := t.Broker.Parameter(p.VHost, p.Component, p.Name); there {
		status = http.StatusNoContent
	}
	return rest.Answer{Status: status}, t.Broker.SetParameter(p)
}
