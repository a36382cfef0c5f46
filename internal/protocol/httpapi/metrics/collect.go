package metrics

import (
	"slices"

	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/monitor"
)

// Prefixes of names. Those of /metrics/detailed differ, so that both paths may be scraped.
const (
	theirs      = "rabbitmq_"
	ours        = "fiveways_"
	theirFamily = "rabbitmq_detailed_"
	ourFamily   = "fiveways_detailed_"
	ofCluster   = "rabbitmq_cluster_"
)

// aggregated collects /metrics.
func (s *source) aggregated(out *sink) {
	o := s.open()
	sum, n, publishers := o.sum()
	s.o.Node.Monitor.Read(func(sm *inspect.Sample, e *monitor.Edge, p *monitor.Process) {
		all := o.gone
		all.Add(&sum.Counts)
		r := out.with(theirs)
		s.node(out, r, e, p)
		sumQueues(r, queueFigures, sm)
		sumQueues(out.with(ours), ownFigures, sm)
		oldest(out.with(ours), sm)
		sumChannels(r, &sum, &all)
		moved := s.o.Node.Clients.Bytes()
		var in, sent uint64
		for _, m := range moved {
			in += m.In
			sent += m.Out
		}
		r.counter("connection_incoming_bytes_total", "Bytes received on connections")(float64(in))
		r.counter("connection_outgoing_bytes_total", "Bytes sent on connections")(float64(sent))
		r.gauge("connection_channels", "Channels of connections")(float64(n))
		s.rest(out, r, sm, p, &o, n)
		global(r, &sum, &all, publishers)
		died(r, sm)
	})
}

// perObject collects /metrics/per-object.
func (s *source) perObject(out *sink) {
	o := s.open()
	sum, n, publishers := o.sum()
	s.o.Node.Monitor.Read(func(sm *inspect.Sample, e *monitor.Edge, p *monitor.Process) {
		all := o.gone
		all.Add(&sum.Counts)
		r := out.with(theirs)
		s.node(out, r, e, p)
		queues := labelQueues(sm, nil)
		queues.eachQueue(r, append(slices.Clone(queueFigures), headTimestamp))
		queues.eachQueue(out.with(ours), ownFigures)
		queues.eachOldest(out.with(ours), sm)
		queues.eachJobs(out.with(ours))
		exchanges(out.with(ours), sm, nil)
		o.eachGauge(r)
		o.eachCounter(r, "")
		o.eachConnection(r, true, true)
		s.rest(out, r, sm, p, &o, n)
		global(r, &sum, &all, publishers)
		died(r, sm)
	})
}

// node writes the metrics of the node under RabbitMQ's names.
func (s *source) node(out, r *sink, e *monitor.Edge, p *monitor.Process) {
	out.with("").gauge("process_start_time_seconds", "Start time of the process, in seconds since 1970")(float64(s.o.Node.Monitor.Started().Unix()))
	s.alarms(r)
	s.churn(r, e)
	s.coarse(r, e, p)
	s.limits(r, p)
	s.persister(r)
	s.attempts(r)
	s.identity(r)
}

// rest writes what /metrics and /metrics/per-object have in common.
func (s *source) rest(out, r *sink, sm *inspect.Sample, p *monitor.Process, o *open, channels int) {
	connections := 0
	for _, c := range o.clients {
		if c.Protocol != "http" && c.Protocol != "metrics" {
			connections++
		}
	}
	totals(r, sm, connections, channels)
	s.own(out.with(ours), sm, p)
}

// exchanges writes for each exchange how many messages were published to it.
func exchanges(out *sink, sm *inspect.Sample, want func(vhost string) bool) {
	in := out.counter("exchange_messages_in_total", "Messages published to the exchange", "vhost", "exchange")
	sent := out.counter("exchange_messages_out_total", "Routings to queues by the exchange", "vhost", "exchange")
	lost := out.counter("exchange_messages_unroutable_total", "Unroutable messages of the exchange", "vhost", "exchange")
	for i := range sm.VHosts {
		v := &sm.VHosts[i]
		for j := range v.Exchanges {
			if x := &v.Exchanges[j]; want == nil || want(v.Name) {
				in(float64(x.In), v.Name, x.Name)
				sent(float64(x.Out), v.Name, x.Name)
				lost(float64(x.NoRoute), v.Name, x.Name)
			}
		}
	}
}

// detailed collects /metrics/detailed: the requested families, of all virtual hosts or of some.
func (s *source) detailed(families, vhosts []string) collect {
	asked := func(family string) bool { return slices.Contains(families, family) }
	var want func(string) bool
	if len(vhosts) > 0 {
		want = func(v string) bool { return slices.Contains(vhosts, v) }
	}
	return func(out *sink) {
		o := s.open()
		s.o.Node.Monitor.Read(func(sm *inspect.Sample, e *monitor.Edge, p *monitor.Process) {
			r := out.with(theirFamily)
			s.identity(out.with(theirs))
			pick := func(all []queueFigure) (some []queueFigure) {
				for _, f := range all {
					if asked(f.family) {
						some = append(some, f)
					}
				}
				return some
			}
			queues := labelQueues(sm, want)
			queues.eachQueue(r, pick(append(slices.Clone(queueFigures), headTimestamp)))
			queues.eachQueue(out.with(ourFamily), pick(ownFigures))
			if asked(rich) {
				queues.eachOldest(out.with(ourFamily), sm)
				queues.eachJobs(out.with(ourFamily))
			}
			s.families(r, asked, &o, e, p)
			cluster(out.with(ofCluster), asked, sm, want)
		})
	}
}

// families writes the families that do not depend on virtual hosts.
func (s *source) families(r *sink, asked func(string) bool, o *open, e *monitor.Edge, p *monitor.Process) {
	for family, tell := range map[string]func(){
		"connection_churn_metrics":  func() { s.churn(r, e) },
		"node_coarse_metrics":       func() { s.coarse(r, e, p) },
		"node_metrics":              func() { s.limits(r, p) },
		"node_persister_metrics":    func() { s.persister(r) },
		"auth_attempt_metrics":      func() { s.attempts(r) },
		"channel_metrics":           func() { o.eachGauge(r) },
		byExchange:                  func() { o.eachCounter(r, byExchange) },
		byQueue:                     func() { o.eachCounter(r, byQueue) },
		"connection_coarse_metrics": func() { o.eachConnection(r, true, false) },
		"connection_metrics":        func() { o.eachConnection(r, false, true) },
	} {
		if asked(family) {
			tell()
		}
	}
}

// cluster writes which virtual hosts and exchanges exist.
func cluster(out *sink, asked func(string) bool, sm *inspect.Sample, want func(vhost string) bool) {
	if asked("vhost_status") {
		add := out.gauge("vhost_status", "1 for a virtual host that runs", "vhost")
		for i := range sm.VHosts {
			if want == nil || want(sm.VHosts[i].Name) {
				add(1, sm.VHosts[i].Name)
			}
		}
	}
	for family, f := range map[string]struct {
		name, help string
		value      func(x *inspect.ExchangeSample) float64
	}{
		"exchange_names":    {"exchange_name", "1 for an exchange that is there", func(*inspect.ExchangeSample) float64 { return 1 }},
		"exchange_bindings": {"exchange_bindings", "Bindings of which the exchange is the source", func(x *inspect.ExchangeSample) float64 { return float64(x.Bindings) }},
	} {
		if !asked(family) {
			continue
		}
		add := out.gauge(f.name, f.help, "vhost", "exchange", "type")
		for i := range sm.VHosts {
			v := &sm.VHosts[i]
			for j := range v.Exchanges {
				if x := &v.Exchanges[j]; x.Name != "" && (want == nil || want(v.Name)) {
					add(f.value(x), v.Name, x.Name, x.Type)
				}
			}
		}
	}
}
