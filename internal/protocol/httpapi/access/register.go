package access

import (
	"net/http"
	"strings"

	"fiveways.dev/fiveways/internal/monitor"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// Options are what the paths show beyond the engine's own data. All fields are required.
type Options struct {
	Node *rest.Node // this node
}

// api serves the paths.
type api struct {
	*rest.API
	monitor *monitor.Monitor
	node    *rest.Node
}

// Register adds the paths to an API.
func Register(a *rest.API, o Options) {
	p := &api{a, o.Node.Monitor, o.Node}
	a.Describe(about)
	p.userPaths()
	p.vhostPaths()
	p.permissionPaths()
	p.topicPermissionPaths()
	a.Get(rest.Management, "/api/whoami", p.whoAmI)
}

// identity is the answer of whoami.
type identity struct {
	Name string    `json:"name"`
	Tags rest.Tags `json:"tags"`
}

// whoAmI shows the caller and its tags.
func (a *api) whoAmI(r *http.Request) (any, error) {
	c := rest.CallerOf(r.Context())
	if c.Operator {
		return identity{c.Name(), rest.Tags{"administrator"}}, nil
	}
	u, err := a.Broker.User(c.User)
	return identity{u.Name, u.Tags}, err
}

// thing returns nil if err is nil, and RabbitMQ's 404 if err says that the object does not exist.
func thing(err error) error {
	if err != nil {
		return rest.ErrNotThere
	}
	return nil
}

// field is a field of a body, nil if it was left out.
type field struct {
	name  string
	value *string
}

// whole rejects a body that lacks one of the fields.
func whole(fields ...field) error {
	var lacking []string
	for _, f := range fields {
		if f.value == nil {
			lacking = append(lacking, f.name)
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	return missing(lacking...)
}

// missing returns the refusal of a body that lacks fields, in RabbitMQ's words.
func missing(fields ...string) error {
	return rest.BadRequest("[{key_missing," + strings.Join(fields, "},{key_missing,") + "}]")
}
