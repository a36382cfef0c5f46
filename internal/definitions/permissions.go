package definitions

import (
	"fiveways.dev/fiveways/internal/core/access"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
)

// Permissions returns the permissions of a user in a virtual host, in order of user and virtual
// host; "" means all.
func (a *Admin) Permissions(user, vhost string) []catalog.Permission {
	return a.state.Permissions(user, vhost)
}

// SetPermission sets the permissions of a user in a virtual host, and replaces earlier ones. It
// returns when that is durable. Sessions notice at their next operation; running consumers
// continue. Errors: ErrUserNotFound, ErrVHostNotFound, ErrInvalidPattern, ErrLogFailed.
func (a *Admin) SetPermission(p catalog.Permission) (created bool, err error) {
	for _, source := range []string{p.Configure, p.Write, p.Read} {
		if _, err := access.Compile(source); err != nil {
			return false, invalidPattern(source, err)
		}
	}
	err = a.changeAccess(func() (*catalog.AccessFact, error) {
		if err := a.state.Knows(p.User, p.VHost); err != nil {
			return nil, err
		}
		created = !a.state.MayEnter(p.User, p.VHost)
		return &catalog.AccessFact{Permission: p.Fact()}, nil
	})
	return created, err
}

// DeletePermission removes a user's permission in a virtual host, if there is one. Errors:
// ErrUserNotFound, ErrVHostNotFound, ErrLogFailed.
func (a *Admin) DeletePermission(user, vhost string) error {
	return a.changeAccess(func() (*catalog.AccessFact, error) {
		return &catalog.AccessFact{Delete: true, Permission: &catalog.PermissionFact{User: user, VHost: vhost}}, a.state.Knows(user, vhost)
	})
}

// TopicPermissions returns the topic permissions of a user in a virtual host, in order of user,
// virtual host and exchange; "" means all.
func (a *Admin) TopicPermissions(user, vhost string) []catalog.TopicPermission {
	return a.state.TopicPermissions(user, vhost)
}

// SetTopicPermission sets the routing keys that a user may use with an exchange, which need not
// exist. Errors: ErrUserNotFound, ErrVHostNotFound, ErrInvalidName, ErrInvalidPattern,
// ErrLogFailed.
func (a *Admin) SetTopicPermission(p catalog.TopicPermission) (created bool, err error) {
	if err := catalog.CheckLength("exchange", p.Exchange); err != nil {
		return false, err
	}
	for _, template := range []string{p.Write, p.Read} {
		if err := access.CheckTemplate(template); err != nil {
			return false, invalidPattern(template, err)
		}
	}
	err = a.changeAccess(func() (*catalog.AccessFact, error) {
		if err := a.state.Knows(p.User, p.VHost); err != nil {
			return nil, err
		}
		created = !a.state.HasTopicPermission(p.User, p.VHost, p.Exchange)
		return &catalog.AccessFact{Topic: p.Fact()}, nil
	})
	return created, err
}

// DeleteTopicPermission removes a topic permission, if there is one. After that the exchange is
// unrestricted for the user. The exchange "" means all. Errors: ErrUserNotFound, ErrVHostNotFound,
// ErrLogFailed.
func (a *Admin) DeleteTopicPermission(user, vhost, exchange string) error {
	return a.changeAccess(func() (*catalog.AccessFact, error) {
		return &catalog.AccessFact{Delete: true, Topic: (&catalog.TopicPermission{User: user, VHost: vhost, Exchange: exchange}).Fact()}, a.state.Knows(user, vhost)
	})
}

func invalidPattern(source string, err error) error {
	return &failure.Error{Err: failure.ErrInvalidPattern, Kind: "pattern", Name: source, Detail: err.Error()}
}
