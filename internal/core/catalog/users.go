package catalog

import (
	"cmp"
	"crypto/sha256"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"fiveways.dev/fiveways/internal/core/access"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/routing"
)

// users holds users and permissions. Readers take mu. They cache answers with the generation, which
// every change increments.
type users struct {
	generation atomic.Uint64 // starts at 1
	mu         sync.RWMutex  // also guards VHost.info
	byName     map[string]*user
}

type user struct {
	name         string
	tags         []string
	login        *Login // replaced, never changed
	loopbackOnly bool
	limits       Limits
	made         uint64
	permissions  map[string]*permission // by virtual host
	topics       map[topicKey]*TopicPermission
}

// Login is a stored password.
type Login struct {
	access.Secret
	// Verified identifies the last correct password, for the password check; nil if there was none.
	Verified atomic.Pointer[[sha256.Size]byte]
}

type permission struct {
	Permission
	configure, write, read *access.Pattern
}

type topicKey struct{ vhost, exchange string }

func compareTopics(a, b topicKey) int {
	return cmp.Or(cmp.Compare(a.vhost, b.vhost), cmp.Compare(a.exchange, b.exchange))
}

// The default user exists in every data folder unless facts say otherwise: an administrator, with
// all permissions in "/", that may log in only from this machine. Its password is its name, so the
// salt does not matter.
const (
	DefaultUser   = "guest"
	defaultVHost  = "/"
	defaultSecret = "RlcBCaf8QOGqXcBvtmH5oF4CqckHF6HoOEwPGR78fhA4MP+o"
)

// defaults are the definitions of a data folder before its first fact.
var defaults = []*AccessFact{
	{VHost: &VHostFact{Name: defaultVHost}},
	{User: &UserFact{
		Name: DefaultUser, Secret: access.Secret{Algorithm: access.RabbitSHA256, Hash: defaultSecret},
		Tags: []string{TagAdministrator}, LoopbackOnly: true,
	}},
	{Permission: &PermissionFact{
		User: DefaultUser, VHost: defaultVHost, Configure: access.Everything, Write: access.Everything, Read: access.Everything,
	}},
}

// ApplyAccess applies a fact. Users, virtual hosts and permissions change only here, both live and
// in replay. Facts about objects that do not exist change nothing.
func (s *State) ApplyAccess(f *AccessFact) error {
	us := &s.users
	us.mu.Lock()
	defer us.mu.Unlock()
	defer us.generation.Add(1) // readers that have cached an answer check again after the change
	switch {
	case f.Reset:
		clear(us.byName)
		s.vhosts.Clear()
	case f.VHost != nil && f.Delete:
		s.removeVHost(f.VHost.Name)
	case f.VHost != nil:
		v := s.addVHost(f.VHost)
		v.info = *f.VHost
		s.engine.LimitVHost(v, f.VHost.Limits)
	case f.User != nil && f.Delete:
		if us.byName[f.User.Name] != nil {
			delete(us.byName, f.User.Name)
			s.engine.DropUser(f.User.Name)
		}
	case f.User != nil:
		us.put(f.User)
		s.engine.LimitUser(f.User.Name, f.User.Limits)
	case f.Permission != nil:
		return us.putPermission(f.Permission, f.Delete)
	case f.Topic != nil:
		us.putTopic(f.Topic, f.Delete)
	}
	return nil
}

func (s *State) addVHost(f *VHostFact) *VHost {
	if v, ok := s.VHost(f.Name); ok {
		return v
	}
	v := s.engine.NewVHost()
	v.Name, v.Made, v.state = f.Name, f.Made, s
	v.table.Store(routing.NewWith(s.options.Conditions))
	v.touch()
	s.vhosts.Store(f.Name, v)
	return v
}

// removeVHost removes a virtual host with its queues and all permissions in it. The caller holds
// users.mu.
func (s *State) removeVHost(name string) {
	v, ok := s.VHost(name)
	if !ok {
		return
	}
	v.gone = true
	s.engine.LimitVHost(v, nil)
	s.vhosts.Delete(name)
	for q := range v.All(v.Table()) {
		s.forget(q)
	}
	v.setTable(routing.NewWith(s.options.Conditions))
	for _, u := range s.users.byName {
		delete(u.permissions, name)
		maps.DeleteFunc(u.topics, func(k topicKey, _ *TopicPermission) bool { return k.vhost == name })
	}
}

func (us *users) put(f *UserFact) {
	u := us.byName[f.Name]
	if u == nil {
		u = &user{name: f.Name, permissions: map[string]*permission{}, topics: map[topicKey]*TopicPermission{}}
		us.byName[f.Name] = u
	}
	if u.login == nil || u.login.Secret != f.Secret {
		u.login = &Login{Secret: f.Secret}
	}
	u.tags, u.loopbackOnly, u.limits, u.made = f.Tags, f.LoopbackOnly, f.Limits, f.Made
}

func (us *users) putPermission(f *PermissionFact, remove bool) error {
	u := us.byName[f.User]
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

func (us *users) putTopic(f *TopicFact, remove bool) {
	u := us.byName[f.User]
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

// accessFacts returns the facts that recreate users, virtual hosts and permissions, in a fixed
// order.
func (s *State) accessFacts() []Fact {
	facts := []Fact{&AccessFact{Reset: true}}
	us := &s.users
	us.mu.RLock()
	defer us.mu.RUnlock()
	for _, v := range s.VHosts() {
		info := v.info
		facts = append(facts, &AccessFact{VHost: &info})
	}
	for _, u := range us.sorted() {
		facts = append(facts, &AccessFact{User: u.fact()})
		for _, vhost := range slices.Sorted(maps.Keys(u.permissions)) {
			facts = append(facts, &AccessFact{Permission: u.permissions[vhost].Fact()})
		}
		for _, key := range slices.SortedFunc(maps.Keys(u.topics), compareTopics) {
			facts = append(facts, &AccessFact{Topic: u.topics[key].Fact()})
		}
	}
	return facts
}

func (u *user) fact() *UserFact {
	return &UserFact{
		Name: u.name, Secret: u.login.Secret, Tags: u.tags, LoopbackOnly: u.loopbackOnly, Limits: u.limits, Made: u.made,
	}
}

// AccessGeneration returns a number that grows with every change of a user, a permission or a
// virtual host. If it has changed, earlier reads may be outdated.
func (s *State) AccessGeneration() uint64 { return s.users.generation.Load() }

// read calls fn with the user of that name, nil if it does not exist.
func (us *users) read(name string, fn func(*user)) {
	us.mu.RLock()
	defer us.mu.RUnlock()
	fn(us.byName[name])
}

// sorted returns all users by name. The caller holds mu.
func (us *users) sorted() []*user {
	return slices.SortedFunc(maps.Values(us.byName), func(a, b *user) int { return cmp.Compare(a.name, b.name) })
}

// public returns the user without its secret.
func (u *user) public() User {
	return User{
		Name: u.name, Tags: slices.Clone(u.tags), Hash: u.login.Hash, Algorithm: u.login.Algorithm,
		LoopbackOnly: u.loopbackOnly, Limits: maps.Clone(u.limits), Made: u.made,
	}
}

// Users returns all users by name.
func (s *State) Users() []User {
	us := &s.users
	us.mu.RLock()
	defer us.mu.RUnlock()
	all := make([]User, 0, len(us.byName))
	for _, u := range us.sorted() {
		all = append(all, u.public())
	}
	return all
}

// User returns one user. It returns ErrUserNotFound if the user does not exist.
func (s *State) User(name string) (found User, err error) {
	err = UserNotFound(name)
	s.users.read(name, func(u *user) {
		if u != nil {
			found, err = u.public(), nil
		}
	})
	return found, err
}

// HasUser reports whether a user of that name exists.
func (s *State) HasUser(name string) (ok bool) {
	s.users.read(name, func(u *user) { ok = u != nil })
	return ok
}

// UserFact returns the fact of a user, or nil if it does not exist.
func (s *State) UserFact(name string) (f *UserFact) {
	s.users.read(name, func(u *user) {
		if u != nil {
			f = u.fact()
		}
	})
	return f
}

// Login returns the stored password of a user, nil if the user does not exist, and whether the user
// may log in only from this machine.
func (s *State) Login(name string) (l *Login, loopbackOnly bool) {
	s.users.read(name, func(u *user) {
		if u != nil {
			l, loopbackOnly = u.login, u.loopbackOnly
		}
	})
	return l, loopbackOnly
}

// IsUntouchedDefault reports whether a login is that of the default user with the default password.
func (l *Login) IsUntouchedDefault(name string) bool {
	return name == DefaultUser && l.Hash == defaultSecret
}

// UserLimit returns a limit of the user. A value below 0 means no limit.
func (s *State) UserLimit(name, limit string) int64 {
	n := int64(-1)
	s.users.read(name, func(u *user) {
		if u != nil {
			n = u.limits.Get(limit)
		}
	})
	return n
}

// Permissions returns the permissions of a user in a virtual host, sorted by user and virtual host;
// "" means all.
func (s *State) Permissions(user, vhost string) (all []Permission) {
	s.users.mu.RLock()
	defer s.users.mu.RUnlock()
	for _, u := range s.users.sorted() {
		for _, name := range slices.Sorted(maps.Keys(u.permissions)) {
			if (user == "" || user == u.name) && (vhost == "" || vhost == name) {
				all = append(all, u.permissions[name].Permission)
			}
		}
	}
	return all
}

// TopicPermissions returns the topic permissions of a user in a virtual host, sorted by user,
// virtual host and exchange; "" means all.
func (s *State) TopicPermissions(user, vhost string) (all []TopicPermission) {
	s.users.mu.RLock()
	defer s.users.mu.RUnlock()
	for _, u := range s.users.sorted() {
		for _, key := range slices.SortedFunc(maps.Keys(u.topics), compareTopics) {
			if (user == "" || user == u.name) && (vhost == "" || vhost == key.vhost) {
				all = append(all, *u.topics[key])
			}
		}
	}
	return all
}

// MayEnter reports whether the user has a permission in the virtual host.
func (s *State) MayEnter(name, vhost string) (ok bool) {
	s.users.read(name, func(u *user) { ok = u != nil && u.permissions[vhost] != nil })
	return ok
}

// HasTopicPermission reports whether the user has a topic permission for an exchange.
func (s *State) HasTopicPermission(name, vhost, exchange string) (ok bool) {
	s.users.read(name, func(u *user) { ok = u != nil && u.topics[topicKey{vhost, exchange}] != nil })
	return ok
}

// Knows checks that the user and the virtual host exist. Errors: ErrUserNotFound, ErrVHostNotFound.
func (s *State) Knows(user, vhost string) error {
	if !s.HasUser(user) {
		return UserNotFound(user)
	}
	if _, ok := s.VHost(vhost); !ok {
		return VHostNotFound(vhost)
	}
	return nil
}

// UserNotFound returns the error for a user name that does not exist.
func UserNotFound(name string) error {
	return &failure.Error{Err: failure.ErrUserNotFound, Kind: "user", Name: name, User: name}
}
