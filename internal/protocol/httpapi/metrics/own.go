package metrics

import (
	"runtime"
	"runtime/debug"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/monitor"
	"fiveways.dev/fiveways/internal/shovel/dynamic"
)

// own writes the metrics that RabbitMQ does not have. Their names begin with fiveways_.
func (s *source) own(out *sink, sm *inspect.Sample, p *monitor.Process) {
	s.protocols(out)
	s.log(out)
	s.messages(out, sm)
	s.stateMachines(out)
	s.heldBack(out)
	allJobs(out, sm)
	s.shovels(out)
	s.spans(out)
	res := s.b.Resources()
	out.gauge("message_memory_bytes", "Memory used by messages")(float64(res.Memory))
	out.gauge("message_memory_limit_bytes", "Memory limit for messages")(float64(res.MemoryLimit))
	alarm := out.gauge("alarm", "1 while publishers are blocked, by resource", "resource")
	alarm(truth(res.Alarm == broker.LowOnMemory), "memory")
	alarm(truth(res.Alarm == broker.LowOnDisk), "disk")
	out.gauge("goroutines", "Goroutines")(float64(p.Goroutines))
	out.gauge("heap_bytes", "Memory of heap objects, live and dead")(float64(p.Heap))
	out.counter("gc_cycles_total", "Garbage collections")(float64(p.Collections))
	out.gauge("build_info", "Versions", "version", "go_version", "revision")(1, s.o.Node.Version, runtime.Version(), revision())
	if cert := s.o.Node.CertificateInUse(); cert != nil {
		out.gauge("tls_certificate_expiry_timestamp_seconds", "Expiry of the certificate, in seconds since 1970")(float64(cert.NotAfter.Unix()))
	}
}

// protocols writes the numbers of connections by protocol.
func (s *source) protocols(out *sink) {
	count := out.gauge("connections", "Current connections", "protocol")
	in := out.counter("received_bytes_total", "Bytes received on connections", "protocol")
	sent := out.counter("sent_bytes_total", "Bytes sent on connections", "protocol")
	n := map[string]int{}
	for _, c := range s.o.Node.Clients.All() {
		n[c.Protocol]++
	}
	for _, e := range s.o.Node.Served() { // including unused protocols
		n[e.Protocol] += 0
	}
	for name, k := range n {
		count(float64(k), name)
	}
	for name, moved := range s.o.Node.Clients.Bytes() {
		in(float64(moved.In), name)
		sent(float64(moved.Out), name)
	}
}

const (
	nanosecond  = 1e-9
	millisecond = 1e-3
)

// log writes metrics of the log and latencies.
func (s *source) log(out *sink) {
	st := s.b.Stats()
	out.gauge("log_segments", "Log files")(float64(st.Log.Segments))
	out.gauge("log_bytes", "Size of the log")(float64(st.Log.Bytes))
	out.gauge("log_pending_bytes", "Bytes waiting to be written to the log")(float64(st.Log.Pending))
	out.gauge("log_live_references", "Messages in the log that queues refer to")(float64(st.Log.Live))
	out.gauge("log_references", "Messages in the log that queues referred to when it was written")(float64(st.Log.Refs))
	out.gauge("log_healthy", "1 while the log accepts writes")(truth(st.LogState.Err == nil))
	l := s.b.Latencies()
	out.histogram("fsync_duration_seconds", "Duration of log fsyncs", &l.Sync, nanosecond, 14, 34)
	out.histogram("confirm_duration_seconds", "Time until a log entry with unconfirmed publishes was durable",
		&l.Confirm, nanosecond, 14, 34)
	out.histogram("group_commit_entries", "Log groups per fsync", &l.Group, 1, 0, 14)
	out.histogram("checkpoint_duration_seconds", "Duration of writing a checkpoint of one shard or of definitions", &l.Checkpoint, nanosecond, 18, 36)
	out.histogram("log_cleaning_duration_seconds", "Duration of rewriting a log file of which little is live", &l.Rewrite, nanosecond, 18, 36)
	out.histogram("queueing_duration_seconds", "Time from enqueue to first delivery, sampled",
		&l.Queueing, millisecond, 0, 24)
}

// messages writes totals of messages over all queues.
func (s *source) messages(out *sink, sm *inspect.Sample) {
	sum := sm.Retired
	for i := range sm.Queues {
		sum.Add(&sm.Queues[i].Counts)
	}
	var in, noRoute uint64
	for i := range sm.VHosts {
		in += sm.VHosts[i].In
		noRoute += sm.VHosts[i].NoRoute
	}
	for _, c := range []struct {
		name, help string
		n          uint64
	}{
		{"published", "Messages published by clients", in + sum.Direct},
		{"unroutable", "Unroutable messages", noRoute},
		{"enqueued", "Messages enqueued", sum.Published},
		{"enqueued_bytes", "Body bytes of messages enqueued", sum.PublishedBytes},
		{"delivered", "Messages delivered", sum.HandedOut()},
		{"delivered_bytes", "Body bytes of messages delivered", sum.HandedOutBytes},
		{"redelivered", "Messages redelivered", sum.Redelivered},
		{"acked", "Messages acknowledged", sum.Acked},
		{"returned", "Messages requeued", sum.Returned},
		{"expired", "Messages dead-lettered because they expired", sum.Expired},
		{"rejected", "Messages dead-lettered because a consumer rejected them", sum.Rejected},
		{"pushed_out", "Messages dead-lettered because their queue was full", sum.PushedOut},
		{"returned_too_often", "Messages dead-lettered by the delivery limit", sum.TooOften},
		{"dead_lettered", "Messages dead-lettered to a queue", sum.DeadLettered},
		{"refused", "Messages rejected by a full queue", sum.Refused},
		{"duplicate", "Duplicates dropped", sum.Duplicates},
		{"unreadable", "Messages that could not be read back from disk", uint64(s.b.Stats().Unreadable)},
	} {
		out.counter("messages_"+c.name+"_total", c.help)(float64(c.n))
	}
}

// heldBack writes how many logins were rejected unchecked.
func (s *source) heldBack(out *sink) {
	if s.o.Logins == nil {
		return
	}
	add := out.counter("logins_held_back_total", "Logins rejected unchecked after too many failures from their source", "protocol")
	for name, t := range s.logins() {
		add(float64(t.HeldBack), name)
	}
}

// jobStates are the states by which jobs are counted.
var jobStates = []struct {
	name  string
	count func(j *inspect.JobSample) int
}{
	{"queued", func(j *inspect.JobSample) int { return j.Queued }},
	{"backoff", func(j *inspect.JobSample) int { return j.Backoff }},
	{"locked", func(j *inspect.JobSample) int { return j.Locked }},
	{"behind", func(j *inspect.JobSample) int { return j.Behind }},
	{"done", func(j *inspect.JobSample) int { return j.Done }},
}

// allJobs writes the numbers of jobs of all queues together.
func allJobs(out *sink, sm *inspect.Sample) {
	add := out.gauge("jobs", "Jobs, by state: queued, in backoff, locked, behind a locked one with the same id, done and remembered", "state")
	sums := make([]int, len(jobStates))
	for i := range sm.Queues {
		if j := sm.Queues[i].Jobs; j != nil {
			for k := range jobStates {
				sums[k] += jobStates[k].count(j)
			}
		}
	}
	for k, state := range jobStates {
		add(float64(sums[k]), state.name)
	}
}

// eachJobs writes metrics of each queue that is used for jobs. There are few of these.
func (l *labelled) eachJobs(out *sink) {
	add := out.gauge("queue_jobs", "Jobs of the queue, by state", "vhost", "queue", "state")
	for _, q := range l.queues {
		if q.Jobs == nil {
			continue
		}
		for _, state := range jobStates {
			add(float64(state.count(q.Jobs)), q.VHost, q.Name, state.name)
		}
	}
}

// spans writes metrics of the export of spans to a collector.
func (s *source) spans(out *sink) {
	if s.o.Spans == nil {
		return
	}
	st := s.o.Spans()
	out.counter("spans_sent_total", "Spans accepted by the collector")(float64(st.Sent))
	out.counter("spans_dropped_total", "Spans dropped because the collector did not accept them or the buffer was full")(float64(st.Dropped))
}

// shovels writes metrics of each shovel. There are few shovels.
func (s *source) shovels(out *sink) {
	if s.o.Shovels == nil {
		return
	}
	runs := out.gauge("shovel_running", "1 for a shovel that is connected to both ends, 0 while it starts, waits to reconnect, or cannot run", "vhost", "shovel")
	moved := out.counter("shovel_messages_moved_total", "Messages moved by the shovel since its start", "vhost", "shovel")
	for _, st := range s.o.Shovels() {
		runs(truth(st.State == dynamic.Running), st.VHost, st.Name)
		moved(float64(st.Moved), st.VHost, st.Name)
	}
}

// stateMachines writes metrics of the state machines beside queues.
func (s *source) stateMachines(out *sink) {
	if m := s.o.Semaphores; m != nil {
		st := m.Stats()
		out.gauge("semaphores", "Semaphores")(float64(st.Semaphores))
		tasks := out.gauge("semaphore_tasks", "Tasks of semaphores", "state")
		tasks(float64(st.Waiting), "waiting")
		tasks(float64(st.Tasks-st.Waiting), "running")
		out.gauge("semaphore_bytes", "Memory used by semaphores and tasks")(float64(st.Bytes))
		add := out.counter("semaphore_transitions_total", "Transitions of semaphore tasks", "event")
		for event, n := range st.Transitions {
			add(float64(n), event)
		}
	}
	if bytes := s.o.Node.KeyBytes; bytes != nil {
		out.gauge("key_index_bytes", "Memory used by the index of etcd API keys")(float64(bytes()))
	}
}

// revision returns the source revision that the program was built from, or "" if the build does not
// record it.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
