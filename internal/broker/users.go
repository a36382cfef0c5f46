package broker

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// changeAccess decides on a change of users, virtual hosts or permissions, makes it true, records it, and returns when
// it is durable. A decision without a fact is to leave all as it is.
func (b *Broker) changeAccess(decide func() (*accessFact, error)) error {
	c := b.catalog
	c.mu.Lock()
	f, err := decide()
	if err == nil && f != nil {
		err = c.applyAccess(f)
	}
	if err != nil || f == nil {
		c.mu.Unlock()
		return err
	}
	index := c.recordData(f.append(nil))
	c.mu.Unlock()
	return c.await(index)
}

// Users are all users, by name.
func (b *Broker) Users() []User {
	r := &b.rules
	r.mu.RLock()
	defer r.mu.RUnlock()
	users := make([]User, 0, len(r.users))
	for _, u := range r.sortedUsers() {
		users = append(users, u.public())
	}
	return users
}

// User is one user. Errors: ErrUserNotFound.
func (b *Broker) User(name string) (found User, err error) {
	err = userNotFound(name)
	b.rules.read(name, func(u *user) {
		if u != nil {
			found, err = u.public(), nil
		}
	})
	return found, err
}

// PutUser makes a user, or gives one a new password and new tags, unless the spec says not to; what it may do and its
// limits stay. It returns when that is durable. Errors: ErrInvalidName, ErrInvalidPassword, ErrLogFailed.
func (b *Broker) PutUser(spec UserSpec) (created bool, err error) {
	if err := checkName("user", spec.Name); err != nil {
		return false, err
	}
	secret, err := b.logins.secret(&spec)
	if err != nil {
		return false, err
	}
	err = b.changeAccess(func() (*accessFact, error) {
		f := &userFact{Name: spec.Name, Secret: secret, Tags: cleanTags(spec.Tags), LoopbackOnly: spec.Name == defaultUser}
		created, f.Made = true, b.catalog.index+1
		b.rules.read(spec.Name, func(u *user) {
			if u == nil {
				return
			}
			created, f.LoopbackOnly, f.Limits, f.Made = false, u.loopbackOnly, u.limits, u.made
		})
		if !created && spec.MakeOnly {
			return nil, nil
		}
		return &accessFact{User: f}, nil
	})
	return created, err
}

// SetPassword gives a user a new password. Errors: ErrUserNotFound, ErrInvalidPassword, ErrLogFailed.
func (b *Broker) SetPassword(name, password string) error {
	if password == "" {
		return &Error{Err: ErrInvalidPassword, Kind: "user", Name: name, Detail: "it is empty"}
	}
	if !b.rules.has(name) {
		return userNotFound(name)
	}
	secret, err := b.logins.secret(&UserSpec{Name: name, Password: password})
	if err != nil {
		return err
	}
	return b.editUser(name, func(f *userFact) { f.Secret = secret })
}

// SetUserTags gives a user other tags. Errors: ErrUserNotFound, ErrLogFailed.
func (b *Broker) SetUserTags(name string, tags []string) error {
	return b.editUser(name, func(f *userFact) { f.Tags = cleanTags(tags) })
}

// AddUserTag gives a user one more tag; it may have it already. Errors: ErrUserNotFound, ErrInvalidName, ErrLogFailed.
func (b *Broker) AddUserTag(name, tag string) error {
	if len(cleanTags([]string{tag})) == 0 {
		return &Error{Err: ErrInvalidName, Kind: "tag", Name: tag, Detail: "it is empty"}
	}
	return b.editUser(name, func(f *userFact) { f.Tags = cleanTags(append(slices.Clone(f.Tags), tag)) })
}

// RemoveUserTag takes a tag from a user, who need not have it. Errors: ErrUserNotFound, ErrLogFailed.
func (b *Broker) RemoveUserTag(name, tag string) error {
	return b.editUser(name, func(f *userFact) {
		f.Tags = slices.DeleteFunc(slices.Clone(f.Tags), func(have string) bool { return slices.Contains(cleanTags([]string{tag}), have) })
	})
}

// SetLoopbackOnly says whether a user may log in from this machine only. Errors: ErrUserNotFound, ErrLogFailed.
func (b *Broker) SetLoopbackOnly(name string, only bool) error {
	return b.editUser(name, func(f *userFact) { f.LoopbackOnly = only })
}

// editUser changes one user.
func (b *Broker) editUser(name string, edit func(*userFact)) error {
	return b.changeAccess(func() (*accessFact, error) {
		var f *userFact
		b.rules.read(name, func(u *user) {
			if u != nil {
				f = u.fact()
			}
		})
		if f == nil {
			return nil, userNotFound(name)
		}
		edit(f)
		return &accessFact{User: f}, nil
	})
}

// DeleteUser deletes a user with its permissions, and ends its sessions. Errors: ErrUserNotFound, ErrLogFailed.
func (b *Broker) DeleteUser(name string) error {
	err := b.changeAccess(func() (*accessFact, error) {
		if !b.rules.has(name) {
			return nil, userNotFound(name)
		}
		return &accessFact{Delete: true, User: &userFact{Name: name}}, nil
	})
	if !b.rules.has(name) {
		reason := &Error{Err: ErrUserDeleted, Kind: "user", Name: name, User: name}
		b.sessions.evict(reason, func(s *Session) bool { return s.User == name })
		b.sessions.userGone(name)
	}
	return err
}

// OnUserDeleted has f told of every user who is deleted, for what lives longer than his sessions. f must not block.
func (b *Broker) OnUserDeleted(f func(user string)) {
	b.sessions.mu.Lock()
	defer b.sessions.mu.Unlock()
	b.sessions.onUserGone = append(b.sessions.onUserGone, f)
}

func userNotFound(name string) error {
	return &Error{Err: ErrUserNotFound, Kind: "user", Name: name, User: name}
}

// maxNameBytes is what a protocol can carry as a name.
const maxNameBytes = 255

// checkName tells whether a user or a virtual host can have this name: facts have these as JSON strings.
func checkName(kind, name string) error {
	if err := checkLength(kind, name); err != nil {
		return err
	}
	if !utf8.ValidString(name) {
		return &Error{Err: ErrInvalidName, Kind: kind, Name: name, Detail: "it is not UTF-8"}
	}
	return nil
}

// checkLength tells whether a name is of a length that protocols can carry.
func checkLength(kind, name string) error {
	switch {
	case name == "":
		return &Error{Err: ErrInvalidName, Kind: kind, Name: name, Detail: "it is empty"}
	case len(name) > maxNameBytes:
		return &Error{Err: ErrInvalidName, Kind: kind, Name: name[:maxNameBytes], Detail: "it is longer than 255 bytes"}
	}
	return nil
}

// cleanTags drops blanks and repetitions.
func cleanTags(tags []string) (clean []string) {
	for _, tag := range tags {
		tag = strings.TrimSpace(strings.ToValidUTF8(tag, "?"))
		if tag != "" && !slices.Contains(clean, tag) {
			clean = append(clean, tag)
		}
	}
	return clean
}
