package topology

import (
	"context"
	"encoding/json"
	"net/http"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// global is the component of parameters that belong to no virtual host.
const global = "global"

// clusterName is the parameter that names the cluster.
const clusterName = "cluster_name"

// globalParameter is a parameter of the whole broker.
type globalParameter struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

func newGlobal(p catalog.Parameter) globalParameter { return globalParameter{p.Name, p.Value} }

func (t *topology) nodePaths() {
	t.Get(rest.Policymaking, "/api/global-parameters", func(*http.Request) (any, error) {
		return rest.List(t.Broker.Parameters("", global), newGlobal), nil
	})
	t.Get(rest.Policymaking, "/api/global-parameters/{name}", func(r *http.Request) (any, error) {
		p, ok := t.Broker.Parameter("", global, rest.Name(r, "name"))
		if !ok {
			return nil, rest.ErrNotThere
		}
		return newGlobal(p), nil
	})
	t.Handle(rest.Administration, "PUT /api/global-parameters/{name}", func(r *http.Request) (rest.Answer, error) {
		var in parameterChange
		if err := rest.DecodeOptional(r, &in); err != nil {
			return rest.Answer{}, err
		}
		if in.Value == nil {
			return rest.Answer{}, errNoValue
		}
		return t.keep(catalog.Parameter{Component: global, Name: rest.Name(r, "name"), Value: in.Value})
	})
	t.Delete(rest.Administration, "/api/global-parameters/{name}", func(r *http.Request) error {
		name := rest.Name(r, "name")
		if _, ok := t.Broker.Parameter("", global, name); !ok {
			return rest.ErrNotThere
		}
		return t.Broker.DeleteParameter("", global, name)
	})
	t.clusterPaths()
	t.Get(rest.Management, "/api/aliveness-test/{vhost}", t.testAliveness)
	t.Get(rest.Management, "/api/extensions", nothing)
	t.Get(rest.Management, "/api/federation-links", nothing)
	t.Get(rest.Management, "/api/federation-links/{vhost}", nothing)
}

// nothing answers for RabbitMQ's plugins, of which there are none.
func nothing(*http.Request) (any, error) { return []any{}, nil }

// name is the name of the cluster.
type name struct {
	Name string `json:"name"`
}

// clusterPaths serves the name of the cluster and the feature flags.
func (t *topology) clusterPaths() {
	t.Get(rest.Management, "/api/cluster-name", func(*http.Request) (any, error) { return name{t.node.Cluster()}, nil })
	t.Handle(rest.Administration, "PUT /api/cluster-name", func(r *http.Request) (rest.Answer, error) {
		var in name
		if err := rest.DecodeOptional(r, &in); err != nil {
			return rest.Answer{}, err
		}
		if in.Name == "" {
			return rest.Answer{}, rest.BadRequest("[{key_missing,name}]")
		}
		value, err := json.Marshal(in.Name)
		if err != nil {
			return rest.Answer{}, err
		}
		_, err = t.keep(catalog.Parameter{Component: global, Name: clusterName, Value: value})
		return rest.Answer{Status: http.StatusNoContent}, err
	})
	t.Get(rest.Administration, "/api/feature-flags", func(*http.Request) (any, error) { return featureFlags, nil })
	t.Handle(rest.Administration, "PUT /api/feature-flags/{name}/enable", func(r *http.Request) (rest.Answer, error) {
		for _, f := range featureFlags {
			if f.Name == rest.Name(r, "name") {
				return rest.Answer{Status: http.StatusNoContent}, nil
			}
		}
		return rest.Answer{}, rest.BadRequest("unsupported")
	})
	t.Get(rest.Administration, "/api/deprecated-features", nothing)
	t.Get(rest.Administration, "/api/deprecated-features/used", nothing)
}

// ClusterName returns the name that operators gave the cluster, by default the name of the node.
func ClusterName(b *broker.Broker, node string) string {
	var name string
	if p, ok := b.Parameter("", global, clusterName); ok && json.Unmarshal(p.Value, &name) == nil {
		return name
	}
	return node
}

// featureFlag is a feature that RabbitMQ may leave off while a cluster has nodes that do not
// support it.
type featureFlag struct {
	Name      string `json:"name"`
	About     string `json:"desc"`
	URL       string `json:"doc_url"`
	State     string `json:"state"`
	Stability string `json:"stability"`
	Provider  string `json:"provided_by"`
}

func flag(name, about string) featureFlag {
	return featureFlag{name, about, "", "enabled", "stable", "fiveways"}
}

// featureFlags are the feature flags of RabbitMQ that have a meaning here. They cannot be turned
// off.
var featureFlags = []featureFlag{
	flag("implicit_default_bindings", "Default bindings are implicit, not kept"),
	flag("quorum_queue", "Queues declared with x-queue-type quorum"),
	flag("stream_queue", "Queues declared with x-queue-type stream"),
	flag("user_limits", "Limits of users"),
	flag("virtual_host_metadata", "Description and tags of virtual hosts"),
}

// aliveness is the result of an aliveness test.
type aliveness struct {
	Status string `json:"status"`
}

// testAliveness sends a message through a queue of its own and gets it back.
func (t *topology) testAliveness(r *http.Request) (any, error) {
	if a := t.Broker.Alarm(); a != nil { // a publisher would be blocked
		return nil, rest.Fail(http.StatusServiceUnavailable, "failed", "publishers are blocked: "+a.Reason)
	}
	err := t.In(r, rest.Name(r, "vhost"), func(_ context.Context, s *broker.Session) error { return passThrough(s, "aliveness-test") })
	return aliveness{"ok"}, rest.ByChannel(err)
}

// passThrough declares a queue, publishes to it and gets the message.
func passThrough(s *broker.Session, queue string) error {
	if err := declareQueue(s, catalog.QueueSpec{Name: queue}); err != nil {
		return err
	}
	targets, err := s.Route(nil, []byte(queue), &message.Peek{}, nil)
	if err != nil {
		return err
	}
	env := append(message.AppendEnvelopeHeader(nil, nil, []byte(queue), (&message.Properties{}).Append(nil)), "test_message"...)
	s.Publish(&shard.Publish{Targets: targets, Env: env, TTL: -1})
	s.Flush()
	_, _, ok, err := s.Get(queue, true)
	if err == nil && !ok {
		err = rest.Fail(http.StatusInternalServerError, "failed", "the message that was published did not come out of the queue")
	}
	return err
}
