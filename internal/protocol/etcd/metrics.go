package etcd

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fiveways.dev/fiveways/internal/storage/store"
)

// The kinds of methods as named in the metrics.
const (
	kindUnary        = "unary"
	kindServerStream = "server_stream"
	kindBidiStream   = "bidi_stream"
)

// metrics holds the metrics of one server under the names that etcd dashboards use. The metrics of
// mvcc and leases, which etcd's packages register themselves, are in the registry of the process.
type metrics struct {
	registry *prometheus.Registry
	log      func() store.Stats // of the log
	calls    sync.Map           // full name of a method -> *callCounters
	healthy  [2]prometheus.Counter
	received atomic.Uint64 // bytes
	sent     atomic.Uint64 // bytes
}

// callCounters counts the calls of one method.
type callCounters struct {
	service, method, kind string
	started               atomic.Uint64
	ended                 [codes.Unauthenticated + 1]atomic.Uint64
}

func newMetrics(s *Server) *metrics {
	m := &metrics{registry: prometheus.NewRegistry(), log: func() store.Stats { return s.broker.Stats().Log }}
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		m.registry.MustRegister(c)
		return c
	}
	gauge := func(name, help string, labels prometheus.Labels, value func() float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels}, value))
	}
	one := func() float64 { return 1 }
	index := func() float64 { return float64(s.keys.Index()) }
	gauge("etcd_server_has_leader", "Whether or not a leader exists. 1 is existence, 0 is not.", nil, one)
	gauge("etcd_server_is_leader", "Whether or not this member is a leader. 1 if is, 0 otherwise.", nil, one)
	gauge("etcd_server_version", "Which version of the API is served.", prometheus.Labels{"server_version": etcdVersion}, one)
	gauge("etcd_cluster_version", "Which version of the API the cluster agreed on.", prometheus.Labels{"cluster_version": "3.5"}, one)
	gauge("etcd_server_id", "The id of this member.", prometheus.Labels{"server_id": strconv.FormatUint(s.keys.MemberID(), 16)}, one)
	gauge("etcd_server_proposals_committed_total", "The changes of keys that are on disk.", nil, index)
	gauge("etcd_server_proposals_applied_total", "The changes of keys that are applied.", nil, index)
	gauge("etcd_server_quota_backend_bytes", "The size that the keys may have.", nil, func() float64 { return float64(s.keys.Quota()) })
	gauge("fiveways_build_info", "Which version of the broker this is.", prometheus.Labels{"version": s.o.Version}, one)
	gauge("fiveways_etcd_connections", "Connections of clients now.", nil, func() float64 { return float64(s.Connections()) })
	m.healthy[0] = counter("etcd_server_health_failures", "The total number of failed health checks.")
	m.healthy[1] = counter("etcd_server_health_success", "The total number of successful health checks.")
	m.counted("etcd_network_client_grpc_received_bytes_total", "The total number of bytes received from clients.", &m.received)
	m.counted("etcd_network_client_grpc_sent_bytes_total", "The total number of bytes sent to clients.", &m.sent)
	m.registry.MustRegister(m)
	return m
}

// counted adds a counter that other code increments.
func (m *metrics) counted(name, help string, n *atomic.Uint64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(n.Load()) }))
}

// foreign lists the prefixes of metrics from parts of etcd that are linked but unused here: its log
// on disk and its database file.
var foreign = []string{"etcd_disk_", "etcd_snap_", "etcd_debugging_disk_", "etcd_debugging_snap_", "etcd_debugging_store_"}

func isForeign(name string) bool {
	return slices.ContainsFunc(foreign, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// Gather returns the metrics of this server, and those with other names that etcd's packages keep
// in the registry of the process.
func (m *metrics) Gather() ([]*dto.MetricFamily, error) {
	all, err := m.registry.Gather()
	ours := map[string]bool{}
	for _, f := range all {
		ours[f.GetName()] = true
	}
	others, err2 := prometheus.DefaultGatherer.Gather()
	for _, f := range others {
		if !ours[f.GetName()] && !isForeign(f.GetName()) {
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b *dto.MetricFamily) int { return strings.Compare(a.GetName(), b.GetName()) })
	return all, errors.Join(err, err2)
}

// health counts a health check.
func (m *metrics) health(well bool) {
	if well {
		m.healthy[1].Inc()
		return
	}
	m.healthy[0].Inc()
}

// begin counts the start of a call of a method. The returned function counts its end.
func (m *metrics) begin(method, kind string) func(error) {
	c := m.of(method, kind)
	c.started.Add(1)
	return c.end
}

func (m *metrics) of(method, kind string) *callCounters {
	if c, ok := m.calls.Load(method); ok {
		return c.(*callCounters)
	}
	service, name, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	c, _ := m.calls.LoadOrStore(method, &callCounters{service: service, method: name, kind: kind})
	return c.(*callCounters)
}

func (c *callCounters) end(err error) {
	code := status.Code(err)
	if _, isStatus := status.FromError(err); !isStatus {
		code = status.FromContextError(err).Code()
	}
	if int(code) >= len(c.ended) {
		code = codes.Unknown
	}
	c.ended[code].Add(1)
}

var (
	startedDesc = prometheus.NewDesc("grpc_server_started_total", "Total number of RPCs started on the server.",
		[]string{"grpc_method", "grpc_service", "grpc_type"}, nil)
	handledDesc = prometheus.NewDesc("grpc_server_handled_total", "Total number of RPCs completed on the server, regardless of success or failure.",
		[]string{"grpc_code", "grpc_method", "grpc_service", "grpc_type"}, nil)
	syncDesc = prometheus.NewDesc("etcd_disk_wal_fsync_duration_seconds", "The latency of syncing the log, as sum and count.", nil, nil)
)

// Describe implements prometheus.Collector.
func (m *metrics) Describe(out chan<- *prometheus.Desc) {
	out <- startedDesc
	out <- handledDesc
	out <- syncDesc
}

// Collect implements prometheus.Collector: the counters of calls, and the sync latency of the log.
func (m *metrics) Collect(out chan<- prometheus.Metric) {
	log := m.log()
	out <- prometheus.MustNewConstHistogram(syncDesc, log.Syncs, log.SyncTotal.Seconds(), nil)
	m.calls.Range(func(_, v any) bool {
		c := v.(*callCounters)
		out <- prometheus.MustNewConstMetric(startedDesc, prometheus.CounterValue, float64(c.started.Load()), c.method, c.service, c.kind)
		for code := range c.ended {
			if n := c.ended[code].Load(); n > 0 {
				out <- prometheus.MustNewConstMetric(handledDesc, prometheus.CounterValue, float64(n), codes.Code(code).String(), c.method, c.service, c.kind)
			}
		}
		return true
	})
}
