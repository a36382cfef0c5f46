package definitions

import (
	"cmp"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
	"fiveways.dev/fiveways/internal/shovel/dynamic"
)

// loader imports files.
type loader struct {
	b     *broker.Broker
	log   *slog.Logger
	check func(name string, operator bool, value json.RawMessage) error // nil: all policies are accepted
}

// load imports a file, in the order of dependencies. If vhost is not "", it imports only
// definitions that belong to a virtual host, and puts them into vhost.
func (l *loader) load(f *File, vhost string) error {
	steps := []func(*File) error{l.vhosts, l.users, l.permissions, l.globalParameters, l.parameters, l.policies, l.topology}
	if vhost != "" {
		f.place(vhost)
		steps = steps[4:]
	}
	for _, step := range steps {
		if err := step(f); err != nil {
			return rest.ByChannel(err)
		}
	}
	return nil
}

// place moves all definitions of the file into one virtual host.
func (f *File) place(vhost string) {
	for i := range f.Parameters {
		f.Parameters[i].VHost = vhost
	}
	for i := range f.Policies {
		f.Policies[i].VHost = vhost
	}
	for i := range f.Queues {
		f.Queues[i].VHost = vhost
	}
	for i := range f.Exchanges {
		f.Exchanges[i].VHost = vhost
	}
	for i := range f.Bindings {
		f.Bindings[i].VHost = vhost
	}
}

func (l *loader) vhosts(f *File) error {
	for _, v := range f.VHosts {
		kind := cmp.Or(v.DefaultQueueType, v.Metadata.DefaultQueueType)
		if kind == "undefined" { // some versions of RabbitMQ write this if there is none
			kind = ""
		}
		tags := v.Tags
		if len(tags) == 0 {
			tags = v.Metadata.Tags
		}
		spec := catalog.VHostSpec{Name: v.Name, Description: cmp.Or(v.Description, v.Metadata.Description), Tags: tags, DefaultQueueType: kind}
		if err := l.vhost(spec); err != nil {
			return err
		}
		if err := l.vhostLimits(v.Name, v.Limits); err != nil {
			return err
		}
	}
	return nil
}

// vhost creates a virtual host or changes its metadata. Metadata that a file lacks, such as a file
// of RabbitMQ 3.10, does not change.
func (l *loader) vhost(spec catalog.VHostSpec) error {
	if spec.Description == "" && len(spec.Tags) == 0 && spec.DefaultQueueType == "" {
		if _, err := l.b.VHost(spec.Name); err == nil {
			return nil
		}
	}
	_, err := l.b.PutVHost(spec)
	return err
}

func (l *loader) vhostLimits(vhost string, limits limits) error {
	for _, name := range limits.sorted() {
		if err := l.b.SetVHostLimit(vhost, name, limits[name]); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) users(f *File) error {
	for _, u := range f.Users {
		if _, err := l.b.PutUser(catalog.UserSpec{
			Name: u.Name, Password: u.Password, Hash: u.PasswordHash, Algorithm: u.HashingAlgorithm, Tags: u.Tags,
		}); err != nil {
			return err
		}
		for _, name := range u.Limits.sorted() {
			if err := l.b.SetUserLimit(u.Name, name, u.Limits[name]); err != nil {
				return err
			}
		}
		if u.LoopbackOnly != nil {
			if err := l.b.SetLoopbackOnly(u.Name, *u.LoopbackOnly); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *loader) permissions(f *File) error {
	for _, p := range f.Permissions {
		if _, err := l.b.SetPermission(catalog.Permission(p)); err != nil {
			return err
		}
	}
	for _, p := range f.TopicPermissions {
		if _, err := l.b.SetTopicPermission(catalog.TopicPermission(p)); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) globalParameters(f *File) error {
	for _, p := range f.GlobalParameters {
		if err := l.b.SetParameter(catalog.Parameter{Component: globalComponent, Name: p.Name, Value: p.Value}); err != nil {
			return err
		}
	}
	return nil
}

// taken lists the components of parameters that have a meaning here.
var taken = map[string]bool{
	"federation-upstream": true, "federation-upstream-set": true, dynamic.Component: true, operatorComponent: true, policyComponent: true,
}

func (l *loader) parameters(f *File) error {
	for i := range f.Parameters {
		p := &f.Parameters[i]
		if p.Component == limitsComponent {
			limits, err := p.limits()
			if err == nil {
				err = l.vhostLimits(p.VHost, limits)
			}
			if err != nil {
				return err
			}
			continue
		}
		if !taken[p.Component] {
			l.log.Warn("definitions: parameter ignored: unknown component", "vhost", p.VHost, "component", p.Component, "name", p.Name)
			continue
		}
		if err := l.checkParameter(p); err != nil {
			return err
		}
		if err := l.b.SetParameter(catalog.Parameter{VHost: p.VHost, Component: p.Component, Name: p.Name, Value: p.Value}); err != nil {
			return err
		}
	}
	return nil
}

// limits returns the value of a parameter of limitsComponent.
func (p *Parameter) limits() (l limits, err error) {
	if err := json.Unmarshal(p.Value, &l); err != nil {
		return nil, rest.BadRequest("parameter " + p.Name + ": " + err.Error())
	}
	return l, nil
}

// checkParameter returns an error if the value of a parameter is invalid.
func (l *loader) checkParameter(p *Parameter) error {
	switch p.Component {
	case limitsComponent:
		_, err := p.limits()
		return err
	case operatorComponent, policyComponent:
		return l.checkPolicy(p.VHost+"/"+p.Component+"/"+p.Name, p.Name, p.Component == operatorComponent, p.Value)
	case dynamic.Component:
		if wrong := dynamic.Check(p.Name, p.Value, dynamic.Access{}); len(wrong) > 0 {
			return rest.BadRequest("Validation failed\n\n" + strings.Join(wrong, "\n") + "\n")
		}
	}
	return nil
}

func (l *loader) policies(f *File) error {
	for i := range f.Policies {
		p := &f.Policies[i]
		value, err := l.policy(p)
		if err != nil {
			return err
		}
		if err := l.b.SetParameter(catalog.Parameter{VHost: p.VHost, Component: policyComponent, Name: p.Name, Value: value}); err != nil {
			return err
		}
	}
	return nil
}

// policy returns the value of a policy as a parameter, or an error if it is invalid.
func (l *loader) policy(p *Policy) (json.RawMessage, error) {
	value, err := p.value()
	if err != nil {
		return nil, rest.BadRequest("policy " + p.Name + ": " + err.Error())
	}
	return value, l.checkPolicy(p.VHost+"/"+p.Name, p.Name, false, value)
}

// value returns the value of the policy as a parameter. Fields that the file leaves out get
// RabbitMQ's defaults.
func (p *Policy) value() (json.RawMessage, error) {
	if p.Priority == nil {
		p.Priority = json.RawMessage("0")
	}
	if p.ApplyTo == nil {
		p.ApplyTo = json.RawMessage(`"all"`)
	}
	return json.Marshal(struct {
		Pattern    json.RawMessage `json:"pattern,omitempty"`
		Definition json.RawMessage `json:"definition,omitempty"`
		Priority   json.RawMessage `json:"priority"`
		ApplyTo    json.RawMessage `json:"apply-to"`
	}{p.Pattern, p.Definition, p.Priority, p.ApplyTo})
}

// checkPolicy returns an error if the policy is invalid. place is its position, which RabbitMQ's
// error includes too.
func (l *loader) checkPolicy(place, name string, operator bool, value json.RawMessage) error {
	if l.check == nil {
		return nil
	}
	err := l.check(name, operator, value)
	var refused *rest.Refused
	if errors.As(err, &refused) {
		return rest.Fail(refused.Status, refused.Refusal.Error, refused.Reason+" ("+place+")")
	}
	return err
}
