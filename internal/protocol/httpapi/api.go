package httpapi

import (
	"cmp"
	"io"
	"log/slog"
	"net/http"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/keyspace"
	"fiveways.dev/fiveways/internal/monitor"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/httpapi/access"
	"fiveways.dev/fiveways/internal/protocol/httpapi/attempts"
	"fiveways.dev/fiveways/internal/protocol/httpapi/definitions"
	"fiveways.dev/fiveways/internal/protocol/httpapi/jobs"
	"fiveways.dev/fiveways/internal/protocol/httpapi/keys"
	"fiveways.dev/fiveways/internal/protocol/httpapi/messages"
	"fiveways.dev/fiveways/internal/protocol/httpapi/metrics"
	"fiveways.dev/fiveways/internal/protocol/httpapi/openapi"
	"fiveways.dev/fiveways/internal/protocol/httpapi/overview"
	"fiveways.dev/fiveways/internal/protocol/httpapi/page"
	"fiveways.dev/fiveways/internal/protocol/httpapi/policy"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
	"fiveways.dev/fiveways/internal/protocol/httpapi/topology"
	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/shovel/dynamic"
	"fiveways.dev/fiveways/internal/traces"
)

// Options configure an API. A zero value means the default in brackets.
type Options struct {
	Semaphores *semaphores.Manager // of this broker; nil: there are none
	Keys       *keyspace.Store     // of the etcd API; nil: it is off
	Spans      func() traces.Stats // nil: no traces are sent
	Shovels    *dynamic.Manager    // of this broker; nil: shovels are kept and do not run
	Node       Node                // what is told of the node; without a monitor one is made that samples when it is asked
	Logins     *protocol.Logins    // shared with other protocols [of its own]
	Audit      *protocol.Audit     // where administrative acts are recorded [in Log]
	LoginDelay time.Duration       // before a refused login is answered [1 s]; negative: none
	Log        *slog.Logger        // [slog.Default()]
}

// API answers requests on one broker.
type API struct {
	*rest.API
	semaphores *semaphores.Manager
	counters   metrics.Options
}

// Node is what the API tells of the node.
type Node = rest.Node

// Server serves an API to clients of HTTP/1.
type Server = rest.Server

// Refusal is the body of an answer that is an error.
type Refusal = rest.Refusal

// ServerOptions configure a Server.
type ServerOptions = rest.ServerOptions

// NewServer returns a server of an API; Serve starts it.
func NewServer(a *API, o ServerOptions) *Server { return rest.NewServer(a.API, o) }

// NewMetricsServer returns a server for only the metrics of an API and for probes, without a login.
func NewMetricsServer(a *API, o ServerOptions) *Server {
	o.Protocol = "metrics"
	m := metricsOf(a, nil)
	probes(m)
	return rest.NewServer(m, o)
}

// MetricsHandler answers requests as NewMetricsServer does. At /metrics follows what more writes.
func MetricsHandler(a *API, more func(io.Writer)) http.Handler { return metricsOf(a, more) }

func metricsOf(a *API, more func(io.Writer)) *rest.API {
	m := rest.New(a.Broker, rest.Options{Logins: a.Logins, Log: a.Log})
	o := a.counters
	o.More = more
	metrics.Register(m, rest.Anyone, o)
	return m
}

// New returns the API of b.
func New(b *broker.Broker, o Options) *API {
	a := &API{API: rest.New(b, rest.Options{Logins: o.Logins, Audit: o.Audit, LoginDelay: o.LoginDelay, Log: o.Log}), semaphores: o.Semaphores}
	o.Node.Name = cmp.Or(o.Node.Name, "fiveways")
	if o.Node.Clients == nil {
		o.Node.Clients = protocol.NewClients()
	}
	if o.Node.Monitor == nil {
		o.Node.Monitor = monitor.New(b, monitor.Options{Edge: o.Node.Clients.Observe})
	}
	if o.Node.ClusterName == nil {
		o.Node.ClusterName = func() string { return topology.ClusterName(b, o.Node.Name) }
	}
	if topology.ClusterID(b) != "" {
		o.Node.ClusterID = func() string { return topology.ClusterID(b) }
	}
	a.Describe(about)
	overview.Register(a.API, o.Node, o.Shovels.List)
	a.counters = metrics.Options{Node: o.Node, Logins: a.Logins, Semaphores: o.Semaphores, Shovels: o.Shovels.List, Spans: o.Spans}
	metrics.Register(a.API, rest.Monitoring, a.counters)
	policy.Register(a.API)
	messages.Register(a.API)
	jobs.Register(a.API, o.Node.Monitor)
	keys.Register(a.API, o.Keys)
	a.semaphorePaths()
	a.taskPaths()
	a.eventPaths()
	a.profiles()
	a.backups()
	attempts.Register(a.API, o.Node.Name)
	page.Register(a.API)
	access.Register(a.API, access.Options{Node: &o.Node})
	topology.Register(a.API, topology.Options{Node: &o.Node, Shovels: o.Shovels})
	definitions.Register(a.API, definitions.Options{Product: o.Node.Product, Version: o.Node.ProductVersion(), RabbitMQ: o.Node.RabbitMQ, CheckPolicy: policy.Check})
	openapi.Register(a.API, o.Node.Version)
	return a
}

// Identify gives the broker an id by which tools tell clusters apart, unless it has one.
func Identify(b *broker.Broker) error { return topology.Identify(b) }

// ClusterName is what operators call a broker, the node's name unless they call it otherwise.
func ClusterName(b *broker.Broker, node string) string { return topology.ClusterName(b, node) }

// LoadDefinitions takes in a file of definitions, RabbitMQ's or our own. What it cannot take as it
// is it says in the log.
func LoadDefinitions(b *broker.Broker, log *slog.Logger, file []byte) error {
	return definitions.Load(b, log, file, definitions.Options{CheckPolicy: policy.Check})
}
