package topology

import (
	"net/http"
	"time"

	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
	"fiveways.dev/fiveways/internal/shovel/dynamic"
)

// shovelPaths serves the paths of RabbitMQ's shovel plugin. Some of them contain the word vhost, as
// in the plugin.
func (t *topology) shovelPaths() {
	t.Get(rest.Monitoring, "/api/shovels", t.listShovels)
	t.Get(rest.Monitoring, "/api/shovels/{vhost}", t.listShovels)
	const one = "/api/shovels/vhost/{vhost}/{name}"
	t.Get(rest.Monitoring, one, func(r *http.Request) (any, error) {
		if err := t.findShovel(r); err != nil {
			return nil, err
		}
		return t.listShovels(r) // the plugin answers with all shovels of the virtual host
	})
	t.Delete(rest.Policymaking, one, func(r *http.Request) error {
		if err := t.findShovel(r); err != nil {
			return err
		}
		return t.Broker.DeleteParameter(rest.Name(r, "vhost"), dynamic.Component, rest.Name(r, "name"))
	})
	t.Delete(rest.Policymaking, one+"/restart", func(r *http.Request) error {
		if !t.shovels.Restart(rest.Name(r, "vhost"), rest.Name(r, "name")) {
			return rest.ErrNotThere
		}
		return nil
	})
}

// accessOf returns to which virtual hosts the user who sets a shovel may connect.
func (t *topology) accessOf(r *http.Request) dynamic.Access {
	c := rest.CallerOf(r.Context())
	return dynamic.Access{User: c.Name(), May: func(vhost string) bool {
		if _, err := t.Broker.VHost(vhost); err != nil {
			return false
		}
		return c.Operator || len(t.Broker.Permissions(c.User, vhost)) > 0
	}}
}

func (t *topology) findShovel(r *http.Request) error {
	if _, ok := t.Broker.Parameter(rest.Name(r, "vhost"), dynamic.Component, rest.Name(r, "name")); !ok {
		return rest.ErrNotThere
	}
	return nil
}

// shovel is a shovel as the API shows it. The fields after reason are present while it runs.
type shovel struct {
	Node  string `json:"node"`
	Since string `json:"timestamp"` // local time, as in RabbitMQ
	Name  string `json:"name"`
	VHost string `json:"vhost"`
	Type  string `json:"type"`
	State string `json:"state"`

	Reason string `json:"reason,omitempty"`

	Source         string  `json:"src_uri,omitempty"`
	SourceProtocol string  `json:"src_protocol,omitempty"`
	TargetProtocol string  `json:"dest_protocol,omitempty"`
	Target         string  `json:"dest_uri,omitempty"`
	SourceQueue    *string `json:"src_queue,omitempty"`
	SourceExchange *string `json:"src_exchange,omitempty"`
	SourceKey      *string `json:"src_exchange_key,omitempty"`
	TargetQueue    *string `json:"dest_queue,omitempty"`
	TargetExchange *string `json:"dest_exchange,omitempty"`
	TargetKey      *string `json:"dest_exchange_key,omitempty"`

	Moved uint64 `json:"messages_moved"` // ours: since its start
}

const protocolOfShovels = "amqp091"

func (t *topology) newShovel(s dynamic.Status) shovel {
	shown := shovel{
		Node: t.node.Name, Since: s.Since.Format(time.DateTime), Name: s.Name, VHost: s.VHost, Type: "dynamic", State: s.State, Reason: s.Reason, Moved: s.Moved,
	}
	if s.State == dynamic.Running {
		shown.Source, shown.Target, shown.SourceProtocol, shown.TargetProtocol = s.Source, s.Target, protocolOfShovels, protocolOfShovels
		end := func(key string) *string {
			if name, ok := s.Ends[key]; ok {
				return &name
			}
			return nil
		}
		shown.SourceQueue, shown.SourceExchange, shown.SourceKey = end("src-queue"), end("src-exchange"), end("src-exchange-key")
		shown.TargetQueue, shown.TargetExchange, shown.TargetKey = end("dest-queue"), end("dest-exchange"), end("dest-exchange-key")
	}
	return shown
}

// listShovels shows the shovels that the caller may see.
func (t *topology) listShovels(r *http.Request) (any, error) {
	visible := map[string]bool{}
	for _, vhost := range t.visible(r) {
		visible[vhost] = true
	}
	out := []shovel{}
	for _, s := range t.shovels.List() {
		if visible[s.VHost] {
			out = append(out, t.newShovel(s))
		}
	}
	return out, nil
}
