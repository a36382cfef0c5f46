package overview

import (
	"net/http"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/monitor"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
	"fiveways.dev/fiveways/internal/shovel/dynamic"
)

// api serves the paths of this package.
type api struct {
	*rest.API
	o       rest.Node
	shovels func() []dynamic.Status
}

// Register adds the paths to an API. shovels returns the shovels of the broker.
func Register(a *rest.API, o rest.Node, shovels func() []dynamic.Status) {
	p := &api{a, o, shovels}
	a.Describe(about)
	p.Get(rest.Management, "/api/overview", p.overview)
	p.Get(rest.Management, "/api/attention", p.attention)
	p.Get(rest.Administration, "/api/audit", p.acts)
	p.Get(rest.Management, "/api/listeners", func(r *http.Request) (any, error) { return p.listeners(r), nil })
	p.nodePaths()
	p.connectionPaths()
	p.channelPaths()
	p.consumerPaths()
	p.healthPaths()
}

// query returns which samples the request asks for.
func query(r *http.Request) monitor.Query { return monitor.ParseQuery(r.URL.Query()) }

// inVHost calls fn in a virtual host that the caller is known to see.
func (p *api) inVHost(name string, fn func(s *broker.Session) error) error {
	s, err := p.Broker.Operate(name)
	if err != nil {
		return err
	}
	defer s.Close()
	return fn(s)
}
