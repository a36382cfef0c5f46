package broker

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"fiveways/internal/core/access"
	"fiveways/internal/core/routing"
)

// factAccess is the fact about users, virtual hosts and permissions: a JSON object in the log of the definitions. It
// has a type of its own, so that a version that knows no users does not let everybody in. Never renumber.
const factAccess = 17

// accessFact says one change; exactly one of the pointers is set. What it names is as it says from now on, or with
// Delete is no more.
type accessFact struct {
	Delete     bool            `json:"delete,omitempty"`
	VHost      *vhostFact      `json:"vhost,omitempty"`
	User       *userFact       `json:"user,omitempty"`
	Permission *permissionFact `json:"permission,omitempty"`
	Topic      *topicFact      `json:"topic_permission,omitempty"`
	// Reset is in checkpoints only: there are no users and virtual hosts but those that follow.
	Reset bool `json:"reset,omitempty"`
}

type vhostFact struct {
	Name             string   `json:"name"`
	Description      string   `json:"description,omitempty"`
	Tags             []string `json:"tags,omitempty"`
	DefaultQueueType string   `json:"default_queue_type,omitempty"`
	Limits           Limits   `json:"limits,omitempty"`
	Made             uint64   `json:"made,omitempty"` // the place in the log of the fact that made it, 0 of the first of its name in older logs
}

type userFact struct {
	Name string `json:"name"`
	access.Secret
	Tags         []string `json:"tags,omitempty"`
	LoopbackOnly bool     `json:"loopback_only,omitempty"`
	Limits       Limits   `json:"limits,omitempty"`
	Made         uint64   `json:"made,omitempty"` // the place in the log of the fact that made the user
}

type permissionFact struct {
	User      string `json:"user"`
	VHost     string `json:"vhost"`
	Configure string `json:"configure,omitempty"`
	Write     string `json:"write,omitempty"`
	Read      string `json:"read,omitempty"`
}

type topicFact struct {
	User     string `json:"user"`
	VHost    string `json:"vhost"`
	Exchange name   `json:"exchange,omitempty"` // in a deletion "" stands for all
	Write    string `json:"write,omitempty"`
	Read     string `json:"read,omitempty"`
}

func (f *accessFact) append(dst []byte) []byte {
	b, err := json.Marshal(f)
	if err != nil {
		panic("broker: an access fact cannot be encoded: " + err.Error()) // plain structs: cannot happen
	}
	return append(appendFact(dst, factAccess, len(b)), b...)
}

// The default user is in every data folder that does not say otherwise: administrator, from this machine only, all
// permissions in "/". Its password is its name, so nothing depends on the salt.
const (
	defaultUser   = "guest"
	defaultVHost  = "/"
	defaultSecret = "RlcBCaf8QOGqXcBvtmH5oF4CqckHF6HoOEwPGR78fhA4MP+o"
)

// defaults are what a data folder has before its first fact.
var defaults = []*accessFact{
	{VHost: &vhostFact{Name: defaultVHost}},
	{User: &userFact{
		Name: defaultUser, Secret: access.Secret{Algorithm: access.RabbitSHA256, Hash: defaultSecret},
		Tags: []string{TagAdministrator}, LoopbackOnly: true,
	}},
	{Permission: &permissionFact{
		User: defaultUser, VHost: defaultVHost, Configure: access.Everything, Write: access.Everything, Read: access.Everything,
	}},
}

// replayAccess replays one fact without its type.
func (c *catalog) replayAccess(index uint64, payload []byte) error {
	var f accessFact
	if err := json.Unmarshal(payload, &f); err != nil {
		return fmt.Errorf("topology entry %d: %w", index, err)
	}
	c.index = max(c.index, index)
	if err := c.applyAccess(&f); err != nil {
		return fmt.Errorf("topology entry %d: %w", index, err)
	}
	return nil
}

// applyAccess makes a fact true. It is the one way in which users, virtual hosts and permissions change, at a replay
// and before. Facts about what is not there change nothing. mu is held, or nobody else runs.
func (c *catalog) applyAccess(f *accessFact) error {
	r := &c.b.rules
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.changed()
	switch {
	case f.Reset:
		clear(r.users)
		c.vhosts.Clear()
	case f.VHost != nil && f.Delete:
		c.removeVHost(f.VHost.Name)
	case f.VHost != nil:
		v := c.addVHost(f.VHost)
		v.info = *f.VHost
		v.rate.setLimits(c.b, f.VHost.Limits)
	case f.User != nil && f.Delete:
		if u := r.users[f.User.Name]; u != nil {
			u.rate.setLimits(c.b, nil) // who waits may go on, and end
			delete(r.users, f.User.Name)
		}
	case f.User != nil:
		r.putUser(f.User)
		r.users[f.User.Name].rate.setLimits(c.b, f.User.Limits)
	case f.Permission != nil:
		return r.putPermission(f.Permission, f.Delete)
	case f.Topic != nil:
		r.putTopic(f.Topic, f.Delete)
	}
	return nil
}

func (r *rules) putUser(f *userFact) {
	u := r.users[f.Name]
	if u == nil {
		u = &user{name: f.Name, permissions: map[string]*permission{}, topics: map[topicKey]*TopicPermission{}}
		r.users[f.Name] = u
	}
	if u.login == nil || u.login.secret != f.Secret {
		u.login = &login{secret: f.Secret}
	}
	u.tags, u.loopbackOnly, u.limits, u.made = f.Tags, f.LoopbackOnly, f.Limits, f.Made
}

func (r *rules) putPermission(f *permissionFact, remove bool) error {
	u := r.users[f.User]
	if u == nil {
		return nil
	}
	if remove {
		delete(u.permissions, f.VHost)
		return nil
	}
	p := &permission{Permission: Permission{f.User, f.VHost, f.Configure, f.Write, f.Read}}
	for _, part := range []struct {
		source   string
		compiled **access.Pattern
	}{{f.Configure, &p.configure}, {f.Write, &p.write}, {f.Read, &p.read}} {
		pattern, err := access.Compile(part.source)
		if err != nil {
			return err
		}
		*part.compiled = pattern
	}
	u.permissions[f.VHost] = p
	return nil
}

func (r *rules) putTopic(f *topicFact, remove bool) {
	u := r.users[f.User]
	switch key := (topicKey{f.VHost, string(f.Exchange)}); {
	case u == nil:
	case remove && f.Exchange == "":
		maps.DeleteFunc(u.topics, func(k topicKey, _ *TopicPermission) bool { return k.vhost == f.VHost })
	case remove:
		delete(u.topics, key)
	default:
		u.topics[key] = &TopicPermission{f.User, f.VHost, string(f.Exchange), f.Write, f.Read}
	}
}

// removeVHost forgets a virtual host with its queues and all permissions in it. rules.mu is held.
func (c *catalog) removeVHost(name string) {
	v, ok := c.vhost(name)
	if !ok {
		return
	}
	v.gone = true
	v.rate.setLimits(c.b, nil) // who waits may go on, and end
	c.vhosts.Delete(name)
	for q := range v.all(v.table.Load()) {
		c.forget(q.ID)
	}
	v.table.Store(routing.NewWith(c.b.opts.Conditions))
	v.queues.Store(0)
	for _, u := range c.b.rules.users {
		delete(u.permissions, name)
		maps.DeleteFunc(u.topics, func(k topicKey, _ *TopicPermission) bool { return k.vhost == name })
	}
}

// accessFacts are all facts that must be replayed to get users, virtual hosts and permissions, in a fixed order.
func (c *catalog) accessFacts() []*accessFact {
	facts := []*accessFact{{Reset: true}}
	r := &c.b.rules
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, v := range c.sortedVHosts() {
		info := v.info
		facts = append(facts, &accessFact{VHost: &info})
	}
	for _, u := range r.sortedUsers() {
		facts = append(facts, &accessFact{User: u.fact()})
		for _, vhost := range slices.Sorted(maps.Keys(u.permissions)) {
			facts = append(facts, &accessFact{Permission: u.permissions[vhost].fact()})
		}
		for _, key := range slices.SortedFunc(maps.Keys(u.topics), compareTopics) {
			t := u.topics[key]
			facts = append(facts, &accessFact{Topic: &topicFact{t.User, t.VHost, name(t.Exchange), t.Write, t.Read}})
		}
	}
	return facts
}

func compareTopics(a, b topicKey) int {
	return cmp.Or(cmp.Compare(a.vhost, b.vhost), cmp.Compare(a.exchange, b.exchange))
}

func (u *user) fact() *userFact {
	return &userFact{
		Name: u.name, Secret: u.login.secret, Tags: u.tags, LoopbackOnly: u.loopbackOnly, Limits: u.limits, Made: u.made,
	}
}

func (p *permission) fact() *permissionFact {
	return &permissionFact{p.User, p.VHost, p.Configure, p.Write, p.Read}
}
