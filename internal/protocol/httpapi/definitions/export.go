package definitions

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
	"fiveways.dev/fiveways/internal/shovel/dynamic"
)

// Components of parameters.
const (
	policyComponent   = "policy"
	operatorComponent = "operator_policy"
	limitsComponent   = "vhost-limits"
	limitsName        = "limits" // name of the only parameter of limitsComponent
	globalComponent   = "global"
)

// exported lists the components whose parameters a file contains. Parameters of other parts of the
// broker are internal.
var exported = []string{"federation-upstream", "federation-upstream-set", operatorComponent, dynamic.Component}

// export returns all definitions of the broker.
func (d *definitions) export() (*File, error) {
	b := d.Broker
	f := &File{
		RabbitVersion: d.o.RabbitMQ, RabbitMQVersion: d.o.RabbitMQ, ProductName: d.o.Product, ProductVersion: d.o.Version,
		Users:            rest.List(b.Users(), userOf),
		Permissions:      rest.List(b.Permissions("", ""), func(p catalog.Permission) Permission { return Permission(p) }),
		TopicPermissions: rest.List(b.TopicPermissions("", ""), func(p catalog.TopicPermission) TopicPermission { return TopicPermission(p) }),
		GlobalParameters: rest.List(b.Parameters("", globalComponent), func(p catalog.Parameter) GlobalParameter {
			return GlobalParameter{p.Name, p.Value}
		}),
	}
	f.empty()
	for _, v := range b.VHosts() {
		f.VHosts = append(f.VHosts, vhostOf(v))
		if err := d.exportVHost(f, v, v.Name); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// exportOne returns the definitions of one virtual host.
func (d *definitions) exportOne(vhost string) (*File, error) {
	v, err := d.Broker.VHost(vhost)
	if err != nil {
		return nil, err
	}
	f := &File{RabbitVersion: d.o.RabbitMQ}
	f.empty()
	return f, d.exportVHost(f, v, "")
}

// empty replaces nil lists by empty ones where a file always has the list.
func (f *File) empty() {
	f.Parameters, f.Policies, f.Queues, f.Exchanges, f.Bindings = []Parameter{}, []Policy{}, []Queue{}, []Exchange{}, []Binding{}
}

func userOf(u catalog.User) User {
	return User{
		Name: u.Name, PasswordHash: u.Hash, HashingAlgorithm: u.Algorithm, Tags: u.Tags, Limits: limits(u.Limits), LoopbackOnly: &u.LoopbackOnly,
	}
}

func vhostOf(v catalog.VHostInfo) VHost {
	return VHost{
		Name: v.Name, Description: v.Description, Tags: v.Tags, DefaultQueueType: v.DefaultQueueType,
		Metadata: metadata{v.Description, v.Tags, v.DefaultQueueType},
	}
}

// exportVHost adds the definitions of a virtual host. Queues, exchanges and bindings refer to the
// virtual host as name.
func (d *definitions) exportVHost(f *File, v catalog.VHostInfo, name string) error {
	s, err := d.Broker.Operate(v.Name)
	if err != nil {
		return err
	}
	defer s.Close()
	queues, err := inspect.Queues(s)
	if err != nil {
		return err
	}
	for _, q := range queues {
		if !q.Exclusive { // an exclusive queue is deleted with its connection
			f.Queues = append(f.Queues, Queue{Name: q.Name, VHost: name, Durable: q.Declared, AutoDelete: q.AutoDelete, Arguments: rest.Table(q.Args)})
		}
	}
	exclusive := map[string]bool{}
	for _, q := range queues {
		exclusive[q.Name] = q.Exclusive
	}
	for _, x := range inspect.Exchanges(s) {
		if x.Name != "" && !strings.HasPrefix(x.Name, "amq.") {
			f.Exchanges = append(f.Exchanges, Exchange{x.Name, name, x.Type, x.Durable, x.AutoDelete, x.Internal, rest.Table(x.Args)})
		}
	}
	for _, b := range s.ListBindings() {
		kind := "queue"
		if b.ToExchange {
			kind = "exchange"
		} else if exclusive[b.Destination] {
			continue
		}
		f.Bindings = append(f.Bindings, Binding{b.Source, name, b.Destination, kind, b.Key, rest.Table(b.Args)})
	}
	if err := d.exportPolicies(f, v.Name); err != nil {
		return err
	}
	return exportParameters(d.Broker, f, v)
}

func (d *definitions) exportPolicies(f *File, vhost string) error {
	for _, p := range d.Broker.Parameters(vhost, policyComponent) {
		policy := Policy{}
		if err := json.Unmarshal(p.Value, &policy); err != nil {
			return fmt.Errorf("httpapi: policy %s: %w", p.Name, err)
		}
		policy.VHost, policy.Name = vhost, p.Name
		f.Policies = append(f.Policies, policy)
	}
	return nil
}

func exportParameters(b *broker.Broker, f *File, v catalog.VHostInfo) error {
	for _, component := range exported {
		for _, p := range b.Parameters(v.Name, component) {
			f.Parameters = append(f.Parameters, Parameter{p.Value, v.Name, component, p.Name})
		}
	}
	if len(v.Limits) == 0 {
		return nil
	}
	value, err := json.Marshal(v.Limits)
	f.Parameters = append(f.Parameters, Parameter{value, v.Name, limitsComponent, limitsName})
	return err
}

// sorted returns the names of the limits in order.
func (l limits) sorted() []string { return slices.Sorted(maps.Keys(l)) }
