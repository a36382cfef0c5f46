package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	rabbithole "github.com/michaelklishin/rabbit-hole/v3"
)

// resource is a resource of the provider, with the requests that the provider sends for it.
type resource interface {
	name() string // by which others refer to it
	make(*rabbithole.Client) error
	read(*rabbithole.Client) error // reads the broker's state into the resource
	remove(*rabbithole.Client) error
}

var kinds = map[string]func() resource{
	"rabbitmq_vhost":       func() resource { return &vhost{} },
	"rabbitmq_user":        func() resource { return &user{} },
	"rabbitmq_permissions": func() resource { return &permissions{} },
	"rabbitmq_exchange":    func() resource { return &exchange{} },
	"rabbitmq_queue":       func() resource { return &queue{} },
	"rabbitmq_binding":     func() resource { return &binding{} },
	"rabbitmq_policy":      func() resource { return &policy{} },
}

// done returns the error of a request that changes something.
func done(_ *http.Response, err error) error { return err }

type vhost struct {
	Name string `hcl:"name"`
}

func (v *vhost) name() string { return v.Name }

func (v *vhost) make(c *rabbithole.Client) error {
	return done(c.PutVhost(v.Name, rabbithole.VhostSettings{}))
}

func (v *vhost) read(c *rabbithole.Client) error {
	got, err := c.GetVhost(v.Name)
	if err == nil {
		v.Name = got.Name
	}
	return err
}

func (v *vhost) remove(c *rabbithole.Client) error { return done(c.DeleteVhost(v.Name)) }

type user struct {
	Name     string   `hcl:"name"`
	Password string   `hcl:"password"`
	Tags     []string `hcl:"tags"`
}

func (u *user) name() string { return u.Name }

func (u *user) make(c *rabbithole.Client) error {
	return done(c.PutUser(u.Name, rabbithole.UserSettings{Password: u.Password, Tags: u.Tags}))
}

func (u *user) read(c *rabbithole.Client) error {
	got, err := c.GetUser(u.Name)
	if err == nil {
		u.Name, u.Tags = got.Name, got.Tags
	}
	return err
}

func (u *user) remove(c *rabbithole.Client) error { return done(c.DeleteUser(u.Name)) }

type permissions struct {
	User    string `hcl:"user"`
	Vhost   string `hcl:"vhost"`
	Allowed struct {
		Configure string `hcl:"configure"`
		Write     string `hcl:"write"`
		Read      string `hcl:"read"`
	} `hcl:"permissions,block"`
}

func (*permissions) name() string { return "" }

func (p *permissions) make(c *rabbithole.Client) error {
	return done(c.UpdatePermissionsIn(p.Vhost, p.User, rabbithole.Permissions(p.Allowed)))
}

func (p *permissions) read(c *rabbithole.Client) error {
	got, err := c.GetPermissionsIn(p.Vhost, p.User)
	if err == nil {
		p.User, p.Vhost, p.Allowed.Configure, p.Allowed.Write, p.Allowed.Read = got.User, got.Vhost, got.Configure, got.Write, got.Read
	}
	return err
}

func (p *permissions) remove(c *rabbithole.Client) error {
	return done(c.ClearPermissionsIn(p.Vhost, p.User))
}

type exchange struct {
	Name     string `hcl:"name"`
	Vhost    string `hcl:"vhost"`
	Settings struct {
		Type       string `hcl:"type"`
		Durable    bool   `hcl:"durable"`
		AutoDelete bool   `hcl:"auto_delete"`
	} `hcl:"settings,block"`
}

func (e *exchange) name() string { return e.Name }

func (e *exchange) make(c *rabbithole.Client) error {
	return done(c.DeclareExchange(e.Vhost, e.Name, rabbithole.ExchangeSettings{Type: e.Settings.Type, Durable: e.Settings.Durable, AutoDelete: e.Settings.AutoDelete}))
}

func (e *exchange) read(c *rabbithole.Client) error {
	got, err := c.GetExchange(e.Vhost, e.Name)
	if err == nil {
		e.Name, e.Vhost, e.Settings.Type, e.Settings.Durable, e.Settings.AutoDelete = got.Name, got.Vhost, got.Type, got.Durable, bool(got.AutoDelete)
	}
	return err
}

func (e *exchange) remove(c *rabbithole.Client) error { return done(c.DeleteExchange(e.Vhost, e.Name)) }

type queue struct {
	Name     string `hcl:"name"`
	Vhost    string `hcl:"vhost"`
	Settings struct {
		Durable    bool   `hcl:"durable"`
		AutoDelete bool   `hcl:"auto_delete"`
		Arguments  string `hcl:"arguments_json"`
	} `hcl:"settings,block"`
}

func (q *queue) name() string { return q.Name }

func (q *queue) make(c *rabbithole.Client) error {
	all, err := arguments(q.Settings.Arguments)
	if err != nil {
		return err
	}
	return done(c.DeclareQueue(q.Vhost, q.Name, rabbithole.QueueSettings{Durable: q.Settings.Durable, AutoDelete: q.Settings.AutoDelete, Arguments: all}))
}

func (q *queue) read(c *rabbithole.Client) error {
	got, err := c.GetQueue(q.Vhost, q.Name)
	if err != nil {
		return err
	}
	all, err := json.Marshal(got.Arguments)
	q.Name, q.Vhost, q.Settings.Durable, q.Settings.AutoDelete, q.Settings.Arguments = got.Name, got.Vhost, got.Durable, bool(got.AutoDelete), string(all)
	return err
}

func (q *queue) remove(c *rabbithole.Client) error { return done(c.DeleteQueue(q.Vhost, q.Name)) }

type binding struct {
	Source          string `hcl:"source"`
	Vhost           string `hcl:"vhost"`
	Destination     string `hcl:"destination"`
	DestinationType string `hcl:"destination_type"`
	RoutingKey      string `hcl:"routing_key"`
}

func (*binding) name() string { return "" }

func (b *binding) info() rabbithole.BindingInfo {
	return rabbithole.BindingInfo{Source: b.Source, Vhost: b.Vhost, Destination: b.Destination, DestinationType: b.DestinationType, RoutingKey: b.RoutingKey}
}

func (b *binding) make(c *rabbithole.Client) error { return done(c.DeclareBinding(b.Vhost, b.info())) }

func (b *binding) read(c *rabbithole.Client) error {
	got, err := c.ListQueueBindingsBetween(b.Vhost, b.Source, b.Destination)
	if err != nil {
		return err
	}
	if len(got) != 1 {
		return errors.New(strconv.Itoa(len(got)) + " bindings")
	}
	b.Source, b.Vhost, b.Destination, b.DestinationType, b.RoutingKey = got[0].Source, got[0].Vhost, got[0].Destination, got[0].DestinationType, got[0].RoutingKey
	return nil
}

func (b *binding) remove(c *rabbithole.Client) error {
	info := b.info()
	info.PropertiesKey = b.RoutingKey
	return done(c.DeleteBinding(b.Vhost, info))
}

type policy struct {
	Name   string `hcl:"name"`
	Vhost  string `hcl:"vhost"`
	Policy struct {
		Pattern    string             `hcl:"pattern"`
		Priority   int                `hcl:"priority"`
		ApplyTo    string             `hcl:"apply_to"`
		Definition map[string]float64 `hcl:"definition"`
	} `hcl:"policy,block"`
}

func (p *policy) name() string { return p.Name }

func (p *policy) make(c *rabbithole.Client) error {
	definition := rabbithole.PolicyDefinition{}
	for key, value := range p.Policy.Definition {
		definition[key] = value
	}
	return done(c.PutPolicy(p.Vhost, p.Name, rabbithole.Policy{Pattern: p.Policy.Pattern, ApplyTo: p.Policy.ApplyTo, Priority: p.Policy.Priority, Definition: definition}))
}

func (p *policy) read(c *rabbithole.Client) error {
	got, err := c.GetPolicy(p.Vhost, p.Name)
	if err != nil {
		return err
	}
	p.Name, p.Vhost, p.Policy.Pattern, p.Policy.Priority, p.Policy.ApplyTo = got.Name, got.Vhost, got.Pattern, got.Priority, got.ApplyTo
	p.Policy.Definition = map[string]float64{}
	for key, value := range got.Definition {
		p.Policy.Definition[key] = value.(float64)
	}
	return nil
}

func (p *policy) remove(c *rabbithole.Client) error { return done(c.DeletePolicy(p.Vhost, p.Name)) }
