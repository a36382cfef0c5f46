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
	Keys       *keyspace.Store     // of the etcd API; nil: the API is off
	Spans      func() traces.Stats // nil: no traces are exported
	Shovels    *dynamic.Manager    // of this broker; nil: shovels are stored but do not run
	Node       Node                // facts about the node; if it has no monitor, New makes one that samples on request
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

// Node is what the API shows about the node.
type Node = rest.Node

// Server serves an API to HTTP/1 clients.
type Server = rest.Server

// Refusal is the body of an error response.
type Refusal = rest.Refusal

// ServerOptions configure a Server.
type ServerOptions = rest.ServerOptions

// NewServer returns a server of an API. Call Serve to start it.
func NewServer(a *API, o ServerOptions) *Server { return rest.NewServer(a.API, o) }

// NewMetricsServer returns a server that serves only the metrics of an API and probes, without a
// login.
func NewMetricsServer(a *API, o ServerOptions) *Server {
	o.Protocol = "metrics"
	m := metricsOf(a, nil)
	probes(m)
	return rest.NewServer(m, o)
}

// MetricsHandler returns the handler that NewMetricsServer serves. At /metrics, the output of more
// follows the metrics of the API.
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

// Identify gives the broker a permanent id by which tools distinguish clusters, unless it has one.
func Identify(b *broker.Broker) error { return topology.Identify(b) }

// ClusterName returns the name that operators gave the cluster, by default the name of the node.
func ClusterName(b *broker.Broker, node string) string { return topology.ClusterName(b, node) }

// CheckDefinitions returns an error if a file for LoadDefinitions is invalid for any broker.
func CheckDefinitions(file []byte) error {
	return definitions.Check(file, definitions.Options{CheckPolicy: policy.Check})
}

// LoadDefinitions imports a file of definitions, either RabbitMQ's or our own. It logs what it
// cannot import unchanged.
func LoadDefinitions(b *broker.Broker, log *slog.Logger, file []byte) error {
	return definitions.Load(b, log, file, definitions.Options{CheckPolicy: policy.Check})
}
