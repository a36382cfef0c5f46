package definitions

import (
	"slices"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
)

// Users returns all users, by name.
func (a *Admin) Users() []catalog.User { return a.state.Users() }

// User returns a user. Errors: ErrUserNotFound.
func (a *Admin) User(name string) (catalog.User, error) { return a.state.User(name) }

// PutUser creates a user, or sets the password and tags of an existing one unless the spec forbids
// it. Permissions and limits stay. It returns when that is durable. Errors: ErrInvalidName,
// ErrInvalidPassword, ErrLogFailed.
func (a *Admin) PutUser(spec catalog.UserSpec) (created bool, err error) {
	if err := catalog.CheckName("user", spec.Name); err != nil {
		return false, err
	}
	secret, err := a.logins.Secret(&spec)
	if err != nil {
		return false, err
	}
	err = a.changeAccess(func() (*catalog.AccessFact, error) {
		f := &catalog.UserFact{Name: spec.Name, Secret: secret, Tags: catalog.CleanTags(spec.Tags), LoopbackOnly: spec.Name == catalog.DefaultUser}
		created, f.Made = true, a.journal.Last()+1
		if u := a.state.UserFact(spec.Name); u != nil {
			created, f.LoopbackOnly, f.Limits, f.Made = false, u.LoopbackOnly, u.Limits, u.Made
		}
		if !created && spec.MakeOnly {
			return nil, nil
		}
		return &catalog.AccessFact{User: f}, nil
	})
	return created, err
}

// SetPassword sets the password of a user. Errors: ErrUserNotFound, ErrInvalidPassword,
// ErrLogFailed.
func (a *Admin) SetPassword(name, password string) error {
	if password == "" {
		return &failure.Error{Err: failure.ErrInvalidPassword, Kind: "user", Name: name, Detail: "it is empty"}
	}
	if !a.state.HasUser(name) {
		return catalog.UserNotFound(name)
	}
	secret, err := a.logins.Secret(&catalog.UserSpec{Name: name, Password: password})
	if err != nil {
		return err
	}
	return a.editUser(name, func(f *catalog.UserFact) { f.Secret = secret })
}

// SetUserTags sets the tags of a user. Errors: ErrUserNotFound, ErrLogFailed.
func (a *Admin) SetUserTags(name string, tags []string) error {
	return a.editUser(name, func(f *catalog.UserFact) { f.Tags = catalog.CleanTags(tags) })
}

// AddUserTag adds a tag to a user, which may have it already. Errors: ErrUserNotFound,
// ErrInvalidName, ErrLogFailed.
func (a *Admin) AddUserTag(name, tag string) error {
	if len(catalog.CleanTags([]string{tag})) == 0 {
		return &failure.Error{Err: failure.ErrInvalidName, Kind: "tag", Name: tag, Detail: "it is empty"}
	}
	return a.editUser(name, func(f *catalog.UserFact) { f.Tags = catalog.CleanTags(append(slices.Clone(f.Tags), tag)) })
}

// RemoveUserTag removes a tag from a user, if it is there. Errors: ErrUserNotFound, ErrLogFailed.
func (a *Admin) RemoveUserTag(name, tag string) error {
	return a.editUser(name, func(f *catalog.UserFact) {
		f.Tags = slices.DeleteFunc(slices.Clone(f.Tags), func(have string) bool { return slices.Contains(catalog.CleanTags([]string{tag}), have) })
	})
}

// SetLoopbackOnly sets whether a user may log in only from this machine. Errors: ErrUserNotFound,
// ErrLogFailed.
func (a *Admin) SetLoopbackOnly(name string, only bool) error {
	return a.editUser(name, func(f *catalog.UserFact) { f.LoopbackOnly = only })
}

// editUser changes one user.
func (a *Admin) editUser(name string, edit func(*catalog.UserFact)) error {
	return a.changeAccess(func() (*catalog.AccessFact, error) {
		f := a.state.UserFact(name)
		if f == nil {
			return nil, catalog.UserNotFound(name)
		}
		edit(f)
		return &catalog.AccessFact{User: f}, nil
	})
}

// DeleteUser deletes a user with its permissions, and ends its sessions. Errors: ErrUserNotFound,
// ErrLogFailed.
func (a *Admin) DeleteUser(name string) error {
	err := a.changeAccess(func() (*catalog.AccessFact, error) {
		if !a.state.HasUser(name) {
			return nil, catalog.UserNotFound(name)
		}
		return &catalog.AccessFact{Delete: true, User: &catalog.UserFact{Name: name}}, nil
	})
	if !a.state.HasUser(name) {
		reason := &failure.Error{Err: failure.ErrUserDeleted, Kind: "user", Name: name, User: name}
		a.engine.EndSessions(name, nil, reason)
		a.watchers.userGone(name)
	}
	return err
}
