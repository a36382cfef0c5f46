package broker

import (
	"maps"
	"slices"

	"fiveways/internal/core/access"
)

// Permissions are the permissions of a user in a virtual host, in order of user and virtual host; "" stands for all.
func (b *Broker) Permissions(user, vhost string) (all []Permission) {
	b.rules.mu.RLock()
	defer b.rules.mu.RUnlock()
	for _, u := range b.rules.sortedUsers() {
		for _, name := range slices.Sorted(maps.Keys(u.permissions)) {
			if (user == "" || user == u.name) && (vhost == "" || vhost == name) {
				all = append(all, u.permissions[name].Permission)
			}
		}
	}
	return all
}

// SetPermission says what a user may do in a virtual host; what it said before is forgotten. It returns when that is
// durable; sessions notice at their next operation, and consumers that run go on. Errors: ErrUserNotFound,
// ErrVHostNotFound, ErrInvalidPattern, ErrLogFailed.
func (b *Broker) SetPermission(p Permission) (created bool, err error) {
	for _, source := range []string{p.Configure, p.Write, p.Read} {
		if _, err := access.Compile(source); err != nil {
			return false, invalidPattern(source, err)
		}
	}
	err = b.changeAccess(func() (*accessFact, error) {
		if err := b.knows(p.User, p.VHost); err != nil {
			return nil, err
		}
		created = !b.rules.mayEnter(p.User, p.VHost)
		return &accessFact{Permission: &permissionFact{p.User, p.VHost, p.Configure, p.Write, p.Read}}, nil
	})
	return created, err
}

// DeletePermission takes a user's permission in a virtual host away; it is no error that there was none. Errors:
// ErrUserNotFound, ErrVHostNotFound, ErrLogFailed.
func (b *Broker) DeletePermission(user, vhost string) error {
	return b.changeAccess(func() (*accessFact, error) {
		return &accessFact{Delete: true, Permission: &permissionFact{User: user, VHost: vhost}}, b.knows(user, vhost)
	})
}

// TopicPermissions are the topic permissions of a user in a virtual host, in order of user, virtual host and exchange;
// "" stands for all.
func (b *Broker) TopicPermissions(user, vhost string) (all []TopicPermission) {
	b.rules.mu.RLock()
	defer b.rules.mu.RUnlock()
	for _, u := range b.rules.sortedUsers() {
		for _, key := range slices.SortedFunc(maps.Keys(u.topics), compareTopics) {
			if (user == "" || user == u.name) && (vhost == "" || vhost == key.vhost) {
				all = append(all, *u.topics[key])
			}
		}
	}
	return all
}

// SetTopicPermission says with which routing keys a user may use an exchange, which need not exist. Errors:
// ErrUserNotFound, ErrVHostNotFound, ErrInvalidName, ErrInvalidPattern, ErrLogFailed.
func (b *Broker) SetTopicPermission(p TopicPermission) (created bool, err error) {
	if err := checkLength("exchange", p.Exchange); err != nil {
		return false, err
	}
	for _, template := range []string{p.Write, p.Read} {
		if err := access.CheckTemplate(template); err != nil {
			return false, invalidPattern(template, err)
		}
	}
	err = b.changeAccess(func() (*accessFact, error) {
		if err := b.knows(p.User, p.VHost); err != nil {
			return nil, err
		}
		b.rules.read(p.User, func(u *user) { created = u.topics[topicKey{p.VHost, p.Exchange}] == nil })
		return &accessFact{Topic: &topicFact{p.User, p.VHost, name(p.Exchange), p.Write, p.Read}}, nil
	})
	return created, err
}

// DeleteTopicPermission takes a topic permission away, after which the exchange is unrestricted for the user; "" as the
// exchange stands for all. It is no error that there was none. Errors: ErrUserNotFound, ErrVHostNotFound, ErrLogFailed.
func (b *Broker) DeleteTopicPermission(user, vhost, exchange string) error {
	return b.changeAccess(func() (*accessFact, error) {
		return &accessFact{Delete: true, Topic: &topicFact{User: user, VHost: vhost, Exchange: name(exchange)}}, b.knows(user, vhost)
	})
}

// knows tells whether both exist.
func (b *Broker) knows(user, vhost string) error {
	if !b.rules.has(user) {
		return userNotFound(user)
	}
	if _, ok := b.catalog.vhost(vhost); !ok {
		return vhostNotFound(vhost)
	}
	return nil
}

func invalidPattern(source string, err error) error {
	return &Error{Err: ErrInvalidPattern, Kind: "pattern", Name: source, Detail: err.Error()}
}
