package metrics

import (
	"runtime"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/monitor"
	"fiveways.dev/fiveways/internal/protocol"
)

// churn writes how many connections, channels and queues were opened and closed.
func (s *source) churn(out *sink, e *monitor.Edge) {
	st := s.b.Stats()
	out.counter("connections_opened_total", "Connections opened")(float64(e.ConnectionsOpened))
	out.counter("connections_closed_total", "Connections closed")(float64(e.ConnectionsClosed))
	out.counter("channels_opened_total", "Channels opened")(float64(e.ChannelsOpened))
	out.counter("channels_closed_total", "Channels closed")(float64(e.ChannelsClosed))
	out.counter("queues_declared_total", "Queue declarations")(float64(st.QueuesDeclared))
	out.counter("queues_created_total", "Queues created")(float64(st.QueuesCreated))
	out.counter("queues_deleted_total", "Queues deleted")(float64(st.QueuesDeleted))
}

// coarse writes the resource usage of the process.
func (s *source) coarse(out *sink, e *monitor.Edge, p *monitor.Process) {
	res := s.b.Resources()
	out.gauge("process_open_fds", "Open files, including sockets")(float64(p.Files))
	out.gauge("process_open_tcp_sockets", "Connections of clients")(float64(len(e.Connections)))
	out.gauge("process_resident_memory_bytes", "Memory of the process")(float64(p.Memory))
	if res.DiskFree >= 0 {
		out.gauge("disk_space_available_bytes", "Free disk space of the data folder")(float64(res.DiskFree))
	}
}

// limits writes the resource limits of the process.
func (s *source) limits(out *sink, p *monitor.Process) {
	sockets := p.MostFiles
	if most := s.o.Node.Connections.Max(); most > 0 {
		sockets = int64(most)
	}
	out.gauge("process_max_fds", "Maximum number of open files")(float64(p.MostFiles))
	out.gauge("process_max_tcp_sockets", "Maximum number of connections")(float64(sockets))
	out.gauge("resident_memory_limit_bytes", "Memory target of the process")(float64(s.o.Node.MostMemory()))
	out.gauge("disk_space_available_limit_bytes", "Free disk space below which publishers are blocked")(float64(s.b.Resources().DiskFreeLimit))
}

// persister writes metrics of the log.
func (s *source) persister(out *sink) {
	log := s.b.Stats().Log
	out.counter("io_sync_ops_total", "Log fsyncs")(float64(log.Syncs))
	out.counter("io_sync_time_seconds_total", "Total duration of log fsyncs")(log.SyncTotal.Seconds())
	out.counter("io_write_ops_total", "Entries written to the log")(float64(log.Groups))
}

// alarms writes which alarms block publishers.
func (s *source) alarms(out *sink) {
	reason := s.b.Resources().Alarm
	out.gauge("alarms_file_descriptor_limit", "1 while file descriptors are short: never")(0)
	out.gauge("alarms_free_disk_space_watermark", "1 while publishers are blocked by the disk alarm")(truth(reason == broker.LowOnDisk))
	out.gauge("alarms_memory_used_watermark", "1 while publishers are blocked by the memory alarm")(truth(reason == broker.LowOnMemory))
}

// attempts writes the numbers of logins.
func (s *source) attempts(out *sink) {
	if s.o.Logins == nil {
		return
	}
	all := out.counter("auth_attempts_total", "Login attempts", "protocol")
	good := out.counter("auth_attempts_succeeded_total", "Successful logins", "protocol")
	bad := out.counter("auth_attempts_failed_total", "Failed logins", "protocol")
	for name, t := range s.logins() {
		all(float64(t.Succeeded+t.Failed), name)
		good(float64(t.Succeeded), name)
		bad(float64(t.Failed), name)
	}
}

// logins returns the login attempts by protocol, including unused protocols.
func (s *source) logins() map[string]protocol.Tally {
	counts := map[string]protocol.Tally{}
	for _, e := range s.o.Node.Served() {
		if e.Protocol != "metrics" { // metrics need no login
			counts[loginLabel(e.Protocol)] = protocol.Tally{}
		}
	}
	for _, t := range s.o.Logins.Attempts() {
		counts[loginLabel(t.Protocol)] = t
	}
	return counts
}

// loginLabel returns the label of a protocol in metrics of logins.
func loginLabel(name string) string {
	if name == "amqp" {
		return protocolLabel
	}
	return name
}

// identity writes the labels of the node, which dashboards join with all other metrics.
func (s *source) identity(out *sink) {
	n := &s.o.Node
	out.gauge("build_info", "Versions", "rabbitmq_version", "product_name", "product_version", "erlang_version", "prometheus_client_version", "prometheus_plugin_version")(
		1, n.RabbitMQ, n.Product, n.ProductVersion(), runtime.Version(), "client_golang", n.RabbitMQ)
	out.gauge("identity_info", "The node", "rabbitmq_node", "rabbitmq_cluster", "rabbitmq_cluster_permanent_id")(1, n.Name, n.Cluster(), n.PermanentID())
}

// totals writes how many connections, channels, queues and so on there are.
func totals(out *sink, sm *inspect.Sample, connections, channels int) {
	n := 0
	for i := range sm.Queues {
		n += sm.Queues[i].Consumers
	}
	out.gauge("connections", "Logged-in client connections")(float64(connections))
	out.gauge("channels", "Open channels")(float64(channels))
	out.gauge("consumers", "Consumers")(float64(n))
	out.gauge("queues", "Queues")(float64(len(sm.Queues)))
}
