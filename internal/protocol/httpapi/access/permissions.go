package access

import (
	"errors"
	"net/http"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// permissionPaths serves /api/permissions.
func (a *api) permissionPaths() {
	const one = "/api/permissions/{vhost}/{user}"
	a.Get(rest.Administration, "/api/permissions", func(*http.Request) (any, error) {
		return rest.List(a.Broker.Permissions("", ""), newPermission), nil
	})
	a.Get(rest.Administration, one, func(r *http.Request) (any, error) {
		found := a.Broker.Permissions(rest.Name(r, "user"), rest.Name(r, "vhost"))
		if len(found) == 0 {
			return nil, rest.ErrNotThere
		}
		return newPermission(found[0]), nil
	})
	rest.PutFields(a.API, rest.Administration, one, func(r *http.Request, in permissionChange) (bool, error) {
		if err := whole(field{"configure", in.Configure}, field{"write", in.Write}, field{"read", in.Read}); err != nil {
			return false, err
		}
		created, err := a.Broker.SetPermission(catalog.Permission{
			User: rest.Name(r, "user"), VHost: rest.Name(r, "vhost"), Configure: *in.Configure, Write: *in.Write, Read: *in.Read,
		})
		return created, whoOrWhere(err)
	})
	a.Delete(rest.Administration, one, func(r *http.Request) error {
		user, vhost := rest.Name(r, "user"), rest.Name(r, "vhost")
		if len(a.Broker.Permissions(user, vhost)) == 0 {
			return rest.ErrNotThere
		}
		return a.Broker.DeletePermission(user, vhost)
	})
}

// topicPermissionPaths serves /api/topic-permissions.
func (a *api) topicPermissionPaths() {
	const one = "/api/topic-permissions/{vhost}/{user}"
	a.Get(rest.Administration, "/api/topic-permissions", func(*http.Request) (any, error) {
		return rest.List(a.Broker.TopicPermissions("", ""), newTopicPermission), nil
	})
	a.Get(rest.Administration, one, func(r *http.Request) (any, error) {
		found, err := a.topicPermissions(r)
		return rest.List(found, newTopicPermission), err
	})
	rest.PutFields(a.API, rest.Administration, one, func(r *http.Request, in topicPermissionChange) (bool, error) {
		if err := whole(field{"exchange", in.Exchange}, field{"write", in.Write}, field{"read", in.Read}); err != nil {
			return false, err
		}
		created, err := a.Broker.SetTopicPermission(catalog.TopicPermission{
			User: rest.Name(r, "user"), VHost: rest.Name(r, "vhost"), Exchange: *in.Exchange, Write: *in.Write, Read: *in.Read,
		})
		return created, whoOrWhere(err)
	})
	a.Delete(rest.Administration, one, func(r *http.Request) error {
		if _, err := a.topicPermissions(r); err != nil {
			return err
		}
		return a.Broker.DeleteTopicPermission(rest.Name(r, "user"), rest.Name(r, "vhost"), "")
	})
	a.Delete(rest.Administration, one+"/{exchange}", func(r *http.Request) error {
		return a.Broker.DeleteTopicPermission(rest.Name(r, "user"), rest.Name(r, "vhost"), rest.Name(r, "exchange"))
	})
}

// whoOrWhere returns RabbitMQ's error for permissions whose user or virtual host does not exist.
func whoOrWhere(err error) error {
	if errors.Is(err, failure.ErrUserNotFound) || errors.Is(err, failure.ErrVHostNotFound) {
		return rest.BadRequest("vhost_or_user_not_found: " + rest.RefusalOf(err).Reason)
	}
	return err
}

// topicPermissions returns the topic permissions of the user and virtual host in the path.
func (a *api) topicPermissions(r *http.Request) ([]catalog.TopicPermission, error) {
	found := a.Broker.TopicPermissions(rest.Name(r, "user"), rest.Name(r, "vhost"))
	if len(found) == 0 {
		return nil, rest.ErrNotThere
	}
	return found, nil
}

func newPermission(p catalog.Permission) Permission { return Permission(p) }

func newTopicPermission(p catalog.TopicPermission) TopicPermission { return TopicPermission(p) }
