package httpapi

import (
	"net/http"

	"fiveways/internal/broker"
)

// permissions serves /api/permissions and /api/topic-permissions.
func (a *API) permissions() {
	a.get(administration, "/api/permissions", func(*http.Request) (any, error) { return list(a.broker.Permissions("", ""), newPermission), nil })
	a.get(administration, "/api/permissions/{vhost}/{user}", func(r *http.Request) (any, error) {
		found := a.broker.Permissions(name(r, "user"), name(r, "vhost"))
		if len(found) == 0 {
			return nil, notFound("the user has no permission on the virtual host")
		}
		return newPermission(found[0]), nil
	})
	put(a, administration, "/api/permissions/{vhost}/{user}", func(r *http.Request, in Permission) (bool, error) {
		return a.broker.SetPermission(broker.Permission{
			User: name(r, "user"), VHost: name(r, "vhost"), Configure: in.Configure, Write: in.Write, Read: in.Read,
		})
	})
	a.delete(administration, "/api/permissions/{vhost}/{user}", func(r *http.Request) error {
		return a.broker.DeletePermission(name(r, "user"), name(r, "vhost"))
	})

	a.get(administration, "/api/topic-permissions", func(*http.Request) (any, error) {
		return list(a.broker.TopicPermissions("", ""), newTopicPermission), nil
	})
	a.get(administration, "/api/topic-permissions/{vhost}/{user}", func(r *http.Request) (any, error) {
		found := a.broker.TopicPermissions(name(r, "user"), name(r, "vhost"))
		if len(found) == 0 {
			return nil, notFound("the user has no topic permission on the virtual host")
		}
		return list(found, newTopicPermission), nil
	})
	put(a, administration, "/api/topic-permissions/{vhost}/{user}", func(r *http.Request, in TopicPermission) (bool, error) {
		return a.broker.SetTopicPermission(broker.TopicPermission{
			User: name(r, "user"), VHost: name(r, "vhost"), Exchange: in.Exchange, Write: in.Write, Read: in.Read,
		})
	})
	a.delete(administration, "/api/topic-permissions/{vhost}/{user}", func(r *http.Request) error {
		return a.broker.DeleteTopicPermission(name(r, "user"), name(r, "vhost"), "")
	})
	a.delete(administration, "/api/topic-permissions/{vhost}/{user}/{exchange}", func(r *http.Request) error {
		return a.broker.DeleteTopicPermission(name(r, "user"), name(r, "vhost"), name(r, "exchange"))
	})
}

func newPermission(p broker.Permission) Permission {
	return Permission{User: p.User, VHost: p.VHost, Configure: p.Configure, Write: p.Write, Read: p.Read}
}

func newTopicPermission(p broker.TopicPermission) TopicPermission {
	return TopicPermission{User: p.User, VHost: p.VHost, Exchange: p.Exchange, Write: p.Write, Read: p.Read}
}
