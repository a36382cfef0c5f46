package access

import (
	"fmt"
	"net/http"
	"slices"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// userPaths serves /api/users.
func (a *api) userPaths() {
	const one = "/api/users/{user}"
	a.Get(rest.Administration, "/api/users", func(r *http.Request) (any, error) { return listUsers(r, a.Broker.Users()) })
	a.Get(rest.Administration, "/api/users/without-permissions", func(r *http.Request) (any, error) {
		return listUsers(r, slices.DeleteFunc(a.Broker.Users(), func(u catalog.User) bool { return len(a.Broker.Permissions(u.Name, "")) > 0 }))
	})
	a.Handle(rest.Administration, "POST /api/users/bulk-delete", a.deleteUsers)
	a.Get(rest.Administration, one, func(r *http.Request) (any, error) {
		u, err := a.Broker.User(rest.Name(r, "user"))
		return newUser(u), thing(err)
	})
	rest.PutFields(a.API, rest.Administration, one, func(r *http.Request, in UserChange) (bool, error) { return a.putUser(rest.Name(r, "user"), &in) })
	a.Delete(rest.Administration, one, func(r *http.Request) error { return a.Broker.DeleteUser(rest.Name(r, "user")) })
	rest.Put(a.API, rest.Administration, one+"/password", func(r *http.Request, in PasswordChange) (bool, error) {
		return false, a.Broker.SetPassword(rest.Name(r, "user"), in.Password)
	})
	rest.Put(a.API, rest.Administration, one+"/tags", func(r *http.Request, in TagsChange) (bool, error) {
		return false, a.Broker.SetUserTags(rest.Name(r, "user"), in.Tags)
	})
	rest.Put(a.API, rest.Administration, one+"/loopback-only", func(r *http.Request, in Switch) (bool, error) {
		return false, a.Broker.SetLoopbackOnly(rest.Name(r, "user"), in.Value)
	})
	a.Get(rest.Administration, one+"/permissions", func(r *http.Request) (any, error) {
		u, err := a.Broker.User(rest.Name(r, "user"))
		return rest.List(a.Broker.Permissions(u.Name, ""), newPermission), thing(err)
	})
	a.Get(rest.Administration, one+"/topic-permissions", func(r *http.Request) (any, error) {
		u, err := a.Broker.User(rest.Name(r, "user"))
		return rest.List(a.Broker.TopicPermissions(u.Name, ""), newTopicPermission), thing(err)
	})
}

func listUsers(r *http.Request, users []catalog.User) (any, error) {
	return rest.Listing(r, users, rest.Collection[catalog.User, User]{
		Name: func(u catalog.User) string { return u.Name },
		Show: func(some []catalog.User) ([]User, error) { return rest.List(some, newUser), nil },
	})
}

// putUser creates or changes a user.
func (a *api) putUser(name string, in *UserChange) (created bool, err error) {
	if in.Tags == nil {
		return false, rest.BadRequest("tags_not_present")
	}
	spec := catalog.UserSpec{Name: name, Tags: *in.Tags, Algorithm: in.HashingAlgorithm}
	switch {
	case in.Password != nil && in.PasswordHash != nil:
		return false, rest.BadRequest("both_password_and_password_hash_are_provided")
	case in.Password != nil && *in.Password == "":
		return false, rest.BadRequest("the password is empty; for a user without a password give password_hash \"\"")
	case in.Password != nil:
		spec.Password = *in.Password
	case in.PasswordHash != nil:
		spec.Hash = *in.PasswordHash
	}
	return a.Broker.PutUser(spec)
}

// deleteUsers deletes several users. If one of them does not exist, it deletes none.
func (a *api) deleteUsers(r *http.Request) (rest.Answer, error) {
	var in UserNames
	if err := rest.DecodeOptional(r, &in); err != nil {
		return rest.Answer{}, err
	}
	if in.Users == nil {
		return rest.Answer{}, missing("users")
	}
	for _, name := range in.Users {
		if _, err := a.Broker.User(name); err != nil {
			return rest.Answer{}, rest.BadRequest(fmt.Sprintf("no_such_user: %s", name))
		}
	}
	for _, name := range in.Users {
		if err := a.Broker.DeleteUser(name); err != nil {
			return rest.Answer{}, err
		}
	}
	return rest.Answer{Status: http.StatusNoContent}, nil
}

func newUser(u catalog.User) User {
	return User{
		Name: u.Name, PasswordHash: u.Hash, HashingAlgorithm: u.Algorithm, Tags: u.Tags, LoopbackOnly: u.LoopbackOnly,
		Limits: limits(u.Limits),
	}
}

// limits returns l as a map that is never null in JSON.
func limits(l catalog.Limits) map[string]int64 {
	if l == nil {
		return map[string]int64{}
	}
	return l
}
