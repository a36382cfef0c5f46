package policy

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/policies"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// Policy is a policy or an operator policy as the API shows it.
type Policy struct {
	VHost      string          `json:"vhost"`
	Name       string          `json:"name"`
	Pattern    string          `json:"pattern"`
	ApplyTo    string          `json:"apply-to"`
	Definition json.RawMessage `json:"definition"`
	Priority   json.RawMessage `json:"priority"`
}

// kind is the kind of policies: ordinary or operator policies.
type kind struct {
	path      string
	component string
	need      rest.Need // to read or change a policy; every user of the API may list them
}

func (k kind) operator() bool { return k.component == policies.OperatorComponent }

func (p paths) policyPaths(k kind) {
	list := func(r *http.Request) (any, error) { return p.list(r, k) }
	p.Get(rest.Management, k.path, list)
	p.Get(rest.Management, k.path+"/{vhost}", list)
	one := k.path + "/{vhost}/{name}"
	p.Get(k.need, one, func(r *http.Request) (any, error) {
		found, err := p.find(r, k)
		if err != nil {
			return nil, err
		}
		return shown(found)
	})
	p.Handle(k.need, "PUT "+one, func(r *http.Request) (rest.Answer, error) { return p.put(r, k) })
	p.Delete(k.need, one, func(r *http.Request) error {
		found, err := p.find(r, k)
		if err != nil {
			return err
		}
		return p.Broker.DeleteParameter(found.VHost, found.Component, found.Name)
	})
}

func shown(parameter catalog.Parameter) (Policy, error) {
	var v policies.Value
	if err := json.Unmarshal(parameter.Value, &v); err != nil {
		return Policy{}, fmt.Errorf("httpapi: policy %s: %w", parameter.Name, err)
	}
	return Policy{parameter.VHost, parameter.Name, v.Pattern, v.ApplyTo, v.Definition, v.Priority}, nil
}

func (p paths) list(r *http.Request, k kind) (any, error) {
	out := []Policy{}
	for _, vhost := range p.visible(r) {
		for _, parameter := range p.Broker.Parameters(vhost, k.component) {
			policy, err := shown(parameter)
			if err != nil {
				return nil, err
			}
			out = append(out, policy)
		}
	}
	return out, nil
}

// find returns the policy in the path.
func (p paths) find(r *http.Request, k kind) (catalog.Parameter, error) {
	found, ok := p.Broker.Parameter(rest.Name(r, "vhost"), k.component, rest.Name(r, "name"))
	if !ok {
		return found, rest.ErrNotThere
	}
	return found, nil
}

func (p paths) put(r *http.Request, k kind) (rest.Answer, error) {
	vhost, name := rest.Name(r, "vhost"), rest.Name(r, "name")
	if _, err := p.Broker.VHost(vhost); err != nil {
		return rest.Answer{}, rest.ErrNoVHost
	}
	value, err := readPolicy(r)
	if err != nil {
		return rest.Answer{}, err
	}
	if err := Check(name, k.operator(), value); err != nil {
		return rest.Answer{}, err
	}
	status := http.StatusCreated
	if _, there := p.Broker.Parameter(vhost, k.component, name); there {
		status = http.StatusNoContent
	}
	return rest.Answer{Status: status}, p.Broker.SetParameter(catalog.Parameter{VHost: vhost, Component: k.component, Name: name, Value: value})
}

// readPolicy reads the value of a policy's parameter from a request. Like RabbitMQ it ignores
// unknown fields.
func readPolicy(r *http.Request) (json.RawMessage, error) {
	in := map[string]json.RawMessage{}
	if err := rest.DecodeOptional(r, &in); err != nil {
		return nil, err
	}
	if err := needed(in, "pattern", "definition"); err != nil {
		return nil, err
	}
	value := struct { // in RabbitMQ's order
		Pattern    json.RawMessage `json:"pattern"`
		Definition json.RawMessage `json:"definition"`
		Priority   json.RawMessage `json:"priority"`
		ApplyTo    json.RawMessage `json:"apply-to"`
	}{in["pattern"], in["definition"], json.RawMessage("0"), json.RawMessage(`"all"`)}
	if v, ok := in["priority"]; ok {
		value.Priority = v
	}
	if v, ok := in["apply-to"]; ok {
		value.ApplyTo = v
	}
	return json.Marshal(value)
}

// needed returns an error if a body lacks one of the keys.
func needed(in map[string]json.RawMessage, keys ...string) error {
	var missing []string
	for _, key := range keys {
		if _, ok := in[key]; !ok {
			missing = append(missing, "{key_missing,"+key+"}")
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return rest.BadRequest("[" + strings.Join(missing, ",") + "]")
}

// Check returns an error if the value of a policy or an operator policy is invalid.
func Check(name string, operator bool, value json.RawMessage) error {
	if wrong := policies.Check(name, operator, value); len(wrong) > 0 {
		return rest.Invalid(wrong...)
	}
	return nil
}
