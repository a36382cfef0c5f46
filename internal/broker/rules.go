package broker

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"fiveways/internal/core/access"
)

// rules is what is known of users and permissions. It changes under catalog.mu and mu; readers take mu. Sessions
// remember answers together with the generation, which every change raises.
type rules struct {
	generation atomic.Uint64 // from 1
	mu         sync.RWMutex  // also guards VHost.info
	users      map[string]*user
}

type user struct {
	name         string
	tags         []string
	login        *login // replaced, never changed
	loopbackOnly bool
	limits       Limits
	rate         rateLimit
	made         uint64
	permissions  map[string]*permission // by virtual host
	topics       map[topicKey]*TopicPermission
}

type permission struct {
	Permission
	configure, write, read *access.Pattern
}

type topicKey struct{ vhost, exchange string }

// login is a password as it is kept, and the mark of the one that was right before.
type login struct {
	secret   access.Secret
	verified atomic.Pointer[[markBytes]byte]
}

// AccessGeneration grows whenever a user, a permission or a virtual host changed: what was read of them before may be out of date.
func (b *Broker) AccessGeneration() uint64 { return b.rules.generation.Load() }

// changed makes sessions ask again. It comes after the change.
func (r *rules) changed() { r.generation.Add(1) }

// read runs fn with the user of that name, nil when there is none.
func (r *rules) read(name string, fn func(*user)) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	fn(r.users[name])
}

// has tells whether there is a user of that name.
func (r *rules) has(name string) (ok bool) {
	r.read(name, func(u *user) { ok = u != nil })
	return ok
}

// mayEnter tells whether the user has a permission in the virtual host.
func (r *rules) mayEnter(name, vhost string) (ok bool) {
	r.read(name, func(u *user) { ok = u != nil && u.permissions[vhost] != nil })
	return ok
}

// limit is a limit of the user; below 0 is none.
func (r *rules) limit(name, limit string) int64 {
	n := int64(-1)
	r.read(name, func(u *user) {
		if u != nil {
			n = u.limits.get(limit)
		}
	})
	return n
}

func (l Limits) get(name string) int64 {
	if n, ok := l[name]; ok {
		return n
	}
	return -1
}

// with is a copy in which one limit is different; remove takes it out.
func (l Limits) with(name string, n int64, remove bool) Limits {
	c := maps.Clone(l)
	if remove {
		delete(c, name)
		return c
	}
	if c == nil {
		c = Limits{}
	}
	c[name] = n
	return c
}

// public is the user as others see it.
func (u *user) public() User {
	return User{
		Name: u.name, Tags: slices.Clone(u.tags), Hash: u.login.secret.Hash, Algorithm: u.login.secret.Algorithm,
		LoopbackOnly: u.loopbackOnly, Limits: maps.Clone(u.limits), Made: u.made,
	}
}

// sortedUsers are all users by name. mu is held.
func (r *rules) sortedUsers() []*user {
	return slices.SortedFunc(maps.Values(r.users), func(a, b *user) int { return cmp.Compare(a.name, b.name) })
}
