package httpapi

import (
	"net/http"

	"fiveways/internal/broker"
	"fiveways/internal/protocol/httpapi/rest"
)

// limits serves /api/vhost-limits and /api/user-limits.
func (a *API) limitPaths() {
	a.Get(rest.Administration, "/api/vhost-limits", func(*http.Request) (any, error) {
		return rest.List(a.Broker.VHosts(), func(v broker.VHostInfo) Limits { return Limits{VHost: v.Name, Value: limits(v.Limits)} }), nil
	})
	rest.Put(a.API, rest.Administration, "/api/vhost-limits/{vhost}/{limit}", func(r *http.Request, in LimitValue) (bool, error) {
		return false, a.Broker.SetVHostLimit(rest.Name(r, "vhost"), rest.Name(r, "limit"), in.Value)
	})
	a.Delete(rest.Administration, "/api/vhost-limits/{vhost}/{limit}", func(r *http.Request) error {
		return a.Broker.ClearVHostLimit(rest.Name(r, "vhost"), rest.Name(r, "limit"))
	})

	a.Get(rest.Administration, "/api/user-limits", func(*http.Request) (any, error) {
		return rest.List(a.Broker.Users(), func(u broker.User) Limits { return Limits{User: u.Name, Value: limits(u.Limits)} }), nil
	})
	rest.Put(a.API, rest.Administration, "/api/user-limits/{user}/{limit}", func(r *http.Request, in LimitValue) (bool, error) {
		return false, a.Broker.SetUserLimit(rest.Name(r, "user"), rest.Name(r, "limit"), in.Value)
	})
	a.Delete(rest.Administration, "/api/user-limits/{user}/{limit}", func(r *http.Request) error {
		return a.Broker.ClearUserLimit(rest.Name(r, "user"), rest.Name(r, "limit"))
	})
}

// limits is never null in JSON.
func limits(l broker.Limits) map[string]int64 {
	if l == nil {
		return map[string]int64{}
	}
	return l
}
