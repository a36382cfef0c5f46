package httpapi

import (
	"net/http"

	"fiveways/internal/broker"
)

// limits serves /api/vhost-limits and /api/user-limits.
func (a *API) limitPaths() {
	a.get(administration, "/api/vhost-limits", func(*http.Request) (any, error) {
		return list(a.broker.VHosts(), func(v broker.VHostInfo) Limits { return Limits{VHost: v.Name, Value: limits(v.Limits)} }), nil
	})
	put(a, administration, "/api/vhost-limits/{vhost}/{limit}", func(r *http.Request, in LimitValue) (bool, error) {
		return false, a.broker.SetVHostLimit(name(r, "vhost"), name(r, "limit"), in.Value)
	})
	a.delete(administration, "/api/vhost-limits/{vhost}/{limit}", func(r *http.Request) error {
		return a.broker.ClearVHostLimit(name(r, "vhost"), name(r, "limit"))
	})

	a.get(administration, "/api/user-limits", func(*http.Request) (any, error) {
		return list(a.broker.Users(), func(u broker.User) Limits { return Limits{User: u.Name, Value: limits(u.Limits)} }), nil
	})
	put(a, administration, "/api/user-limits/{user}/{limit}", func(r *http.Request, in LimitValue) (bool, error) {
		return false, a.broker.SetUserLimit(name(r, "user"), name(r, "limit"), in.Value)
	})
	a.delete(administration, "/api/user-limits/{user}/{limit}", func(r *http.Request) error {
		return a.broker.ClearUserLimit(name(r, "user"), name(r, "limit"))
	})
}
