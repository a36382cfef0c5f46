package access

import (
	"cmp"
	"net/http"
	"slices"

	"fiveways.dev/fiveways/internal/core/access"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/monitor"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// vhostPaths serves /api/vhosts.
func (a *api) vhostPaths() {
	const one = "/api/vhosts/{vhost}"
	a.Get(rest.Management, "/api/vhosts", func(r *http.Request) (any, error) {
		return rest.Listing(r, a.VHosts(r), rest.Collection[catalog.VHostInfo, VHost]{
			Name: func(v catalog.VHostInfo) string { return v.Name },
			Show: func(some []catalog.VHostInfo) ([]VHost, error) {
				return rest.List(some, func(v catalog.VHostInfo) VHost { return a.vhost(v, r) }), nil
			},
		})
	})
	a.Get(rest.Administration, one, func(r *http.Request) (any, error) {
		v, err := a.Broker.VHost(rest.Name(r, "vhost"))
		return a.vhost(v, r), thing(err)
	})
	a.Handle(rest.Administration, "PUT "+one, a.putVHost)
	a.Delete(rest.Administration, one, func(r *http.Request) error { return a.Broker.DeleteVHost(rest.Name(r, "vhost")) })
	a.Handle(rest.Administration, "POST "+one+"/start/{node}", a.startVHost)
	a.Get(rest.Administration, one+"/permissions", func(r *http.Request) (any, error) {
		v, err := a.Broker.VHost(rest.Name(r, "vhost"))
		return rest.List(a.Broker.Permissions("", v.Name), newPermission), thing(err)
	})
	a.Get(rest.Administration, one+"/topic-permissions", func(r *http.Request) (any, error) {
		v, err := a.Broker.VHost(rest.Name(r, "vhost"))
		return rest.List(a.Broker.TopicPermissions("", v.Name), newTopicPermission), thing(err)
	})
}

// putVHost creates a virtual host or changes its metadata. As in RabbitMQ, the creator gets all
// permissions in it.
func (a *api) putVHost(r *http.Request) (rest.Answer, error) {
	var in VHostChange
	if err := rest.DecodeOptional(r, &in); err != nil {
		return rest.Answer{}, err
	}
	name, c := rest.Name(r, "vhost"), rest.CallerOf(r.Context())
	created, err := a.Broker.PutVHost(catalog.VHostSpec{
		Name: name, Description: in.Description, Tags: in.Tags, DefaultQueueType: in.DefaultQueueType,
	})
	if err == nil && in.Tracing != nil {
		err = a.Broker.SetTapped(name, bool(*in.Tracing))
	}
	if err != nil || !created {
		return rest.Answer{Status: http.StatusNoContent}, err
	}
	if !c.Operator {
		_, err = a.Broker.SetPermission(catalog.Permission{
			User: c.User, VHost: name, Configure: access.Everything, Write: access.Everything, Read: access.Everything,
		})
	}
	return rest.Answer{Status: http.StatusCreated}, err
}

// startVHost serves RabbitMQ's path for restarting a virtual host that has failed. Here a single
// virtual host cannot fail: either the whole broker runs or none of it.
func (a *api) startVHost(r *http.Request) (rest.Answer, error) {
	if _, err := a.Broker.VHost(rest.Name(r, "vhost")); err != nil {
		return rest.Answer{}, rest.ErrNotThere
	}
	if node := rest.Name(r, "node"); !slices.Contains(a.node.Running(), node) {
		return rest.Answer{}, rest.BadRequest("Request to node " + node + " failed with nodedown")
	}
	return rest.Answer{Status: http.StatusNoContent}, nil
}

func (a *api) vhost(v catalog.VHostInfo, r *http.Request) VHost {
	sum := a.monitor.VHost(v.Name, monitor.ParseQuery(r.URL.Query()))
	state := map[string]string{}
	for _, node := range a.node.Running() {
		state[node] = "running"
	}
	return VHost{
		Name: v.Name, Description: v.Description, Tags: v.Tags, DefaultQueueType: cmp.Or(v.DefaultQueueType, "undefined"),
		Metadata: Metadata{v.Description, v.Tags, v.DefaultQueueType}, Tracing: v.Tapped, ClusterState: state,
		Limits: limits(v.Limits), Lengths: sum.Lengths, Stats: sum.Stats,
	}
}
