package overview

import (
	"maps"
	"math"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/monitor"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// mechanisms are the SASL mechanisms of AMQP.
var mechanisms = []named{
	{"AMQPLAIN", "QPid AMQPLAIN mechanism", true},
	{"PLAIN", "SASL PLAIN authentication mechanism", true},
}

func (p *api) nodePaths() {
	p.Get(rest.Monitoring, "/api/nodes", func(r *http.Request) (any, error) {
		return rest.List(p.o.Members(), func(m protocol.Member) object { return p.member(r, &m) }), nil
	})
	p.Get(rest.Monitoring, "/api/nodes/{node}", p.ofNode(func(r *http.Request, m *protocol.Member) any { return p.member(r, m) }))
	p.Get(rest.Monitoring, "/api/nodes/{node}/memory", p.ofNode(p.memberMemory))
}

// ofNode returns a handler that shows the node in the path.
func (p *api) ofNode(show func(r *http.Request, m *protocol.Member) any) func(r *http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		m := p.o.Member(rest.Name(r, "node"))
		if m == nil {
			return nil, rest.ErrNotThere
		}
		return show(r, m), nil
	}
}

// node shows this node.
func (p *api) node(r *http.Request) object {
	q := query(r)
	res := p.Broker.Resources()
	var process monitor.Process
	p.o.Monitor.Read(func(_ *inspect.Sample, _ *monitor.Edge, proc *monitor.Process) { process = *proc })
	out := object{
		"name": p.o.Name, "type": "disc", "running": true, "being_drained": false, "partitions": []string{}, "cluster_links": []string{},
		"os_pid": strconv.Itoa(os.Getpid()), "uptime": time.Since(p.o.Monitor.Started()).Milliseconds(), "processors": runtime.NumCPU(), "rates_mode": "basic",
		"fd_total": process.MostFiles, "sockets_total": p.mostSockets(process.MostFiles),
		"mem_limit": p.o.MostMemory(), "mem_alarm": res.Alarm == broker.LowOnMemory, "mem_calculation_strategy": "rss",
		"message_memory": res.Memory, "message_memory_limit": res.MemoryLimit,
		"disk_free_limit": res.DiskFreeLimit, "disk_free_alarm": res.Alarm == broker.LowOnDisk,
		"exchange_types": exchangeTypes, "auth_mechanisms": mechanisms, "contexts": p.contexts(), "log_files": []string{"<stderr>"}, "db_dir": res.Dir,
		"config_files": []string{}, "enabled_plugins": []string{}, "net_ticktime": 0,
		"applications": p.applications(p.o.Version),
		"latency":      latency{p.o.Monitor.Latency(), p.o.Monitor.Latencies(q.Node)},
	}
	f := p.o.Monitor.Node(q)
	f.AddTo(out)
	p.o.Monitor.Churn(q).AddTo(out)
	out["io_sync_avg_time"] = average(f.Get("io_sync_time"), f.Get("io_sync_count"))
	out["io_sync_avg_time_details"] = p.o.Monitor.SyncTime(q.Node)
	if res.DiskFree >= 0 {
		out["disk_free"] = res.DiskFree
	}
	if r.URL.Query().Get("memory") == "true" {
		maps.Copy(out, p.memory())
	}
	return out
}

// latency is the latency of the log between the last two samples, and in the history.
type latency struct {
	monitor.Latency
	Samples []monitor.LatencyPoint `json:"samples,omitempty"`
}

// mostSockets returns the maximum number of connections.
func (p *api) mostSockets(files int64) int64 {
	if most := p.o.Connections.Max(); most > 0 {
		return int64(most)
	}
	return files
}

// average returns a mean in ms.
func average(sum, n int64) float64 {
	if n == 0 {
		return 0
	}
	return math.Round(float64(sum)*1000/float64(n)) / 1000
}

// applications lists the parts of a node of a version. RabbitMQ has one for each plugin; tools look
// for the version of "rabbit".
func (p *api) applications(version string) []object {
	return []object{
		{"name": "fiveways", "description": p.o.Product, "version": version},
		{"name": "rabbit", "description": "the RabbitMQ that clients are told", "version": p.o.RabbitMQ},
	}
}

// memory returns the memory usage of the process by purpose, in bytes.
func (p *api) memory() object {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	process := monitor.ReadProcess()
	messages := p.Broker.Resources().Memory
	return object{"memory": object{
		"queue_procs": messages, "other_proc": max(int64(m.HeapInuse)-messages, 0), "code": int64(m.MSpanInuse + m.MCacheInuse + m.OtherSys + m.GCSys),
		"other_system": int64(m.StackInuse), "allocated_unused": int64(m.HeapIdle - m.HeapReleased), "reserved_unallocated": int64(m.HeapReleased),
		"strategy": "rss", "total": object{"erlang": int64(m.HeapInuse + m.StackInuse), "rss": process.Memory, "allocated": int64(m.Sys - m.HeapReleased)},
	}}
}
