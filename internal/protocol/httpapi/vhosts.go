package httpapi

import (
	"net/http"

	"fiveways/internal/broker"
)

// vhosts serves /api/vhosts.
func (a *API) vhosts() {
	a.get(administration, "/api/vhosts", func(*http.Request) (any, error) { return list(a.broker.VHosts(), newVHost), nil })
	a.get(administration, "/api/vhosts/{vhost}", func(r *http.Request) (any, error) {
		v, err := a.broker.VHost(name(r, "vhost"))
		return newVHost(v), err
	})
	put(a, administration, "/api/vhosts/{vhost}", func(r *http.Request, in VHostChange) (bool, error) {
		return a.broker.PutVHost(broker.VHostSpec{
			Name: name(r, "vhost"), Description: in.Description, Tags: in.Tags, DefaultQueueType: in.DefaultQueueType,
		})
	})
	a.delete(administration, "/api/vhosts/{vhost}", func(r *http.Request) error { return a.broker.DeleteVHost(name(r, "vhost")) })
	a.get(administration, "/api/vhosts/{vhost}/permissions", func(r *http.Request) (any, error) {
		v, err := a.broker.VHost(name(r, "vhost"))
		return list(a.broker.Permissions("", v.Name), newPermission), err
	})
	a.get(administration, "/api/vhosts/{vhost}/topic-permissions", func(r *http.Request) (any, error) {
		v, err := a.broker.VHost(name(r, "vhost"))
		return list(a.broker.TopicPermissions("", v.Name), newTopicPermission), err
	})
}

func newVHost(v broker.VHostInfo) VHost {
	return VHost{
		Name: v.Name, Description: v.Description, Tags: tags(v.Tags), DefaultQueueType: v.DefaultQueueType, Limits: limits(v.Limits),
	}
}
