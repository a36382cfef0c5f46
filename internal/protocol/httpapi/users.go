package httpapi

import (
	"net/http"

	"fiveways/internal/broker"
)

// users serves /api/users.
func (a *API) users() {
	a.get(administration, "/api/users", func(*http.Request) (any, error) { return list(a.broker.Users(), newUser), nil })
	a.get(administration, "/api/users/{user}", func(r *http.Request) (any, error) {
		u, err := a.broker.User(name(r, "user"))
		return newUser(u), err
	})
	put(a, administration, "/api/users/{user}", func(r *http.Request, in UserChange) (bool, error) { return a.putUser(name(r, "user"), &in) })
	a.delete(administration, "/api/users/{user}", func(r *http.Request) error { return a.broker.DeleteUser(name(r, "user")) })
	put(a, administration, "/api/users/{user}/password", func(r *http.Request, in PasswordChange) (bool, error) {
		return false, a.broker.SetPassword(name(r, "user"), in.Password)
	})
	put(a, administration, "/api/users/{user}/tags", func(r *http.Request, in TagsChange) (bool, error) {
		return false, a.broker.SetUserTags(name(r, "user"), in.Tags)
	})
	put(a, administration, "/api/users/{user}/loopback-only", func(r *http.Request, in Switch) (bool, error) {
		return false, a.broker.SetLoopbackOnly(name(r, "user"), in.Value)
	})
	a.get(administration, "/api/users/{user}/permissions", func(r *http.Request) (any, error) {
		u, err := a.broker.User(name(r, "user"))
		return list(a.broker.Permissions(u.Name, ""), newPermission), err
	})
	a.get(administration, "/api/users/{user}/topic-permissions", func(r *http.Request) (any, error) {
		u, err := a.broker.User(name(r, "user"))
		return list(a.broker.TopicPermissions(u.Name, ""), newTopicPermission), err
	})
}

// putUser creates or changes a user. An empty password hash, as in RabbitMQ, lets the user log in without a password
// only, by a certificate.
func (a *API) putUser(name string, in *UserChange) (created bool, err error) {
	spec := broker.UserSpec{Name: name, Tags: in.Tags, Algorithm: in.HashingAlgorithm}
	switch {
	case in.Password != nil && in.PasswordHash != nil:
		return false, badRequest("give password or password_hash, not both")
	case in.Password != nil && *in.Password == "":
		return false, badRequest("the password is empty; for a user without a password give password_hash \"\"")
	case in.Password != nil:
		spec.Password = *in.Password
	case in.PasswordHash != nil:
		spec.Hash = *in.PasswordHash
	default:
		return false, badRequest("a user needs a password or a password_hash")
	}
	return a.broker.PutUser(spec)
}

// list shows each of many; of none, an empty list.
func list[T, V any](many []T, show func(T) V) []V {
	out := make([]V, len(many))
	for i := range many {
		out[i] = show(many[i])
	}
	return out
}

func newUser(u broker.User) User {
	return User{
		Name: u.Name, PasswordHash: u.Hash, HashingAlgorithm: u.Algorithm, Tags: tags(u.Tags), LoopbackOnly: u.LoopbackOnly,
		Limits: limits(u.Limits),
	}
}

// tags is never null in JSON.
func tags(words []string) Tags {
	if words == nil {
		return Tags{}
	}
	return words
}

// limits is never null in JSON.
func limits(l broker.Limits) map[string]int64 {
	if l == nil {
		return map[string]int64{}
	}
	return l
}
