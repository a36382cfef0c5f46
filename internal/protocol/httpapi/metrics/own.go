package metrics

import (
	"runtime"
	"runtime/debug"

	"fiveways/internal/broker"
	"fiveways/internal/monitor"
	"fiveways/internal/shovel/dynamic"
)

// own tells what RabbitMQ's metrics have no names for. Names begin with fiveways_.
func (s *source) own(out *sink, sm *broker.Sample, p *monitor.Process) {
	s.protocols(out)
	s.log(out)
	s.messages(out, sm)
	s.annexes(out)
	s.heldBack(out)
	jobs(out, sm)
	s.shovels(out)
	s.spans(out)
	res := s.b.Resources()
	out.gauge("message_memory_bytes", "Memory that messages take")(float64(res.Memory))
	out.gauge("message_memory_limit_bytes", "Memory of messages beyond which publishers are held back")(float64(res.MemoryLimit))
	alarm := out.gauge("alarm", "1 while publishers are held back, by what is short", "resource")
	alarm(truth(res.Alarm == broker.LowOnMemory), "memory")
	alarm(truth(res.Alarm == broker.LowOnDisk), "disk")
	out.gauge("goroutines", "Goroutines")(float64(p.Goroutines))
	out.gauge("heap_bytes", "Memory of objects, live ones and garbage")(float64(p.Heap))
	out.counter("gc_cycles_total", "Collections of garbage")(float64(p.Collections))
	out.gauge("build_info", "Versions", "version", "go_version", "revision")(1, s.o.Node.Version, runtime.Version(), revision())
	if cert := s.o.Node.CertificateInUse(); cert != nil {
		out.gauge("tls_certificate_expiry_timestamp_seconds", "Until when the certificate is valid, in seconds since 1970")(float64(cert.NotAfter.Unix()))
	}
}

// protocols tells of connections by protocol.
func (s *source) protocols(out *sink) {
	count := out.gauge("connections", "Connections now", "protocol")
	in := out.counter("received_bytes_total", "Bytes that came over connections", "protocol")
	sent := out.counter("sent_bytes_total", "Bytes that were sent over connections", "protocol")
	n := map[string]int{}
	for _, c := range s.o.Node.Clients.All() {
		n[c.Protocol]++
	}
	for _, e := range s.o.Node.Served() { // also those that nobody came to
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

// log tells of the log and of how long things took.
func (s *source) log(out *sink) {
	st := s.b.Stats()
	out.gauge("log_segments", "Files of the log")(float64(st.Log.Segments))
	out.gauge("log_bytes", "Size of the log")(float64(st.Log.Bytes))
	out.gauge("log_pending_bytes", "Bytes that wait to be written to the log")(float64(st.Log.Pending))
	out.gauge("log_live_references", "Messages that the log keeps for queues")(float64(st.Log.Live))
	out.gauge("log_references", "Messages that the log kept for queues when it was written")(float64(st.Log.Refs))
	out.gauge("log_healthy", "1 while the log takes what is written")(truth(st.LogState.Err == nil))
	l := s.b.Latencies()
	out.histogram("fsync_duration_seconds", "How long an fsync of the log took", &l.Sync, nanosecond, 14, 34)
	out.histogram("confirm_duration_seconds", "How long an entry of the log with publishes that wait for their confirms took to be safe",
		&l.Confirm, nanosecond, 14, 34)
	out.histogram("group_commit_entries", "Groups of the log that one fsync made safe", &l.Group, 1, 0, 14)
	out.histogram("queueing_duration_seconds", "How long messages were in their queues before they were handed out first, of some of each queue",
		&l.Queueing, millisecond, 0, 24)
}

// messages tells what has happened to messages of all queues.
func (s *source) messages(out *sink, sm *broker.Sample) {
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
		{"published", "Messages that clients brought", in + sum.Direct},
		{"unroutable", "Messages that no queue took", noRoute},
		{"enqueued", "Messages that came into queues", sum.Published},
		{"enqueued_bytes", "Bytes of the bodies of messages that came into queues", sum.PublishedBytes},
		{"delivered", "Messages that were handed out", sum.HandedOut()},
		{"delivered_bytes", "Bytes of the bodies of messages that were handed out", sum.HandedOutBytes},
		{"redelivered", "Messages that were handed out, and not for the first time", sum.Redelivered},
		{"acked", "Messages that were acknowledged", sum.Acked},
		{"returned", "Messages that came back to be delivered again", sum.Returned},
		{"expired", "Messages that died since their time was over", sum.Expired},
		{"rejected", "Messages that died since a consumer refused them", sum.Rejected},
		{"pushed_out", "Messages that died since their queue was too long", sum.PushedOut},
		{"returned_too_often", "Messages that died since they came back too often", sum.TooOften},
		{"dead_lettered", "Messages that a dead-letter exchange sent on", sum.DeadLettered},
		{"refused", "Messages that did not get in, for the queue was full", sum.Refused},
		{"duplicate", "Messages that did not get in, for their key was remembered", sum.Duplicates},
		{"unreadable", "Messages that the disk did not give back", uint64(s.b.Stats().Unreadable)},
	} {
		out.counter("messages_"+c.name+"_total", c.help)(float64(c.n))
	}
}

// heldBack tells of logins that were refused unchecked.
func (s *source) heldBack(out *sink) {
	if s.o.Logins == nil {
		return
	}
	add := out.counter("logins_held_back_total", "Logins that were refused unchecked, for too many had failed from there", "protocol")
	for name, t := range s.logins() {
		add(float64(t.HeldBack), name)
	}
}

// jobStates are what jobs can be counted by.
var jobStates = []struct {
	name  string
	count func(j *broker.JobSample) int
}{
	{"queued", func(j *broker.JobSample) int { return j.Queued }},
	{"backoff", func(j *broker.JobSample) int { return j.Backoff }},
	{"locked", func(j *broker.JobSample) int { return j.Locked }},
	{"behind", func(j *broker.JobSample) int { return j.Behind }},
	{"done", func(j *broker.JobSample) int { return j.Done }},
}

// jobs tells of the jobs of all queues.
func jobs(out *sink, sm *broker.Sample) {
	add := out.gauge("jobs", "Jobs, by what is happening to them: queued, in back-off, locked, behind a locked one of the same id, done and remembered", "state")
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

// eachJobs tells of the queues that are used for jobs, of which there are few.
func (l *labelled) eachJobs(out *sink) {
	add := out.gauge("queue_jobs", "Jobs of the queue, by what is happening to them", "vhost", "queue", "state")
	for _, q := range l.queues {
		if q.Jobs == nil {
			continue
		}
		for _, state := range jobStates {
			add(float64(state.count(q.Jobs)), q.VHost, q.Name, state.name)
		}
	}
}

// spans tells of those that were to be sent to a collector.
func (s *source) spans(out *sink) {
	if s.o.Spans == nil {
		return
	}
	st := s.o.Spans()
	out.counter("spans_sent_total", "Spans that the collector of traces has taken")(float64(st.Sent))
	out.counter("spans_dropped_total", "Spans that the collector did not take, or that were too many")(float64(st.Dropped))
}

// shovels tells of the shovels one by one, of which there are few.
func (s *source) shovels(out *sink) {
	if s.o.Shovels == nil {
		return
	}
	runs := out.gauge("shovel_running", "1 for a shovel that is connected to both ends, 0 while it begins, waits to connect again, or cannot run", "vhost", "shovel")
	moved := out.counter("shovel_messages_moved_total", "Messages that the shovel has moved since it was started", "vhost", "shovel")
	for _, st := range s.o.Shovels() {
		runs(truth(st.State == dynamic.Running), st.VHost, st.Name)
		moved(float64(st.Moved), st.VHost, st.Name)
	}
}

// annexes tells of what lives in the log beside queues.
func (s *source) annexes(out *sink) {
	if m := s.o.Semaphores; m != nil {
		st := m.Stats()
		out.gauge("semaphores", "Semaphores")(float64(st.Semaphores))
		tasks := out.gauge("semaphore_tasks", "Tasks of semaphores", "state")
		tasks(float64(st.Waiting), "waiting")
		tasks(float64(st.Tasks-st.Waiting), "running")
		out.gauge("semaphore_bytes", "Memory that semaphores and tasks take")(float64(st.Bytes))
		add := out.counter("semaphore_transitions_total", "What happened to tasks of semaphores", "event")
		for event, n := range st.Transitions {
			add(float64(n), event)
		}
	}
	if bytes := s.o.Node.KeyBytes; bytes != nil {
		out.gauge("key_index_bytes", "Memory that the index of the keys of etcd's API takes")(float64(bytes()))
	}
}

// revision is the state of the source that the program was built from, "" when it does not say.
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
