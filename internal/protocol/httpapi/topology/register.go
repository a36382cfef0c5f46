package topology

import (
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/monitor"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
	"fiveways.dev/fiveways/internal/shovel/dynamic"
)

// Options are what the paths show beyond the engine's own data.
type Options struct {
	Node    *rest.Node       // this node
	Shovels *dynamic.Manager // nil: shovels are stored but do not run
}

// topology serves the paths of one API.
type topology struct {
	*rest.API
	monitor *monitor.Monitor
	clients *protocol.Clients
	node    *rest.Node
	shovels *dynamic.Manager
}

// Register adds the paths to an API.
func Register(a *rest.API, o Options) {
	t := &topology{a, o.Node.Monitor, o.Node.Clients, o.Node, o.Shovels}
	a.Describe(about)
	t.queuePaths()
	t.exchangePaths()
	t.bindingPaths()
	t.parameterPaths()
	t.shovelPaths()
	t.nodePaths()
}

// look calls fn with a session in a virtual host that the caller may see.
func (t *topology) look(vhost string, fn func(s *broker.Session) error) error {
	s, err := t.Broker.Operate(vhost)
	if err != nil {
		return err
	}
	defer s.Close()
	return fn(s)
}
