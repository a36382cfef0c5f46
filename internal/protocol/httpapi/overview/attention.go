package overview

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/monitor"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
	"fiveways.dev/fiveways/internal/shovel/dynamic"
)

// Attention lists what needs the operator's attention now. It is empty if all is well.
type Attention struct {
	Matters []Matter `json:"matters"` // the most urgent first
}

// Matter is something that needs the operator's attention.
type Matter struct {
	Kind     string `json:"kind"`     // alarm, log, disk, memory, node, certificate, shovel, login, connection, growing, no_consumer, dead_letters or failing
	Severity string `json:"severity"` // critical: something has stopped or soon will; warning: anything else
	VHost    string `json:"vhost,omitempty"`
	Name     string `json:"name,omitempty"` // of the queue, node, shovel or user; "": of several
	Text     string `json:"text"`           // in words, without the name
}

const (
	critical = "critical"
	warning  = "warning"
)

// Thresholds.
const (
	mostOfAKind = 10             // the rest is summed up in one matter
	fewFailures = 3              // fewer failed logins are probably typing errors
	soonFull    = 24 * time.Hour // until the disk is full
	memoryFull  = time.Hour      // until the memory for messages is full
	nearExpiry  = 14 * 24 * time.Hour
	urgent      = time.Hour
)

// attention returns all matters that the caller may see.
func (p *api) attention(r *http.Request) (any, error) {
	var list []Matter
	if rest.CallerOf(r.Context()).Monitors() {
		list = append(list, p.nodeMatters()...)
		list = append(list, p.memberMatters()...)
		list = append(list, p.loginMatters()...)
	} else if a := p.Broker.Alarm(); a != nil {
		list = append(list, p.alarmMatter(a))
	}
	list = append(list, p.connectionMatters(p.connections(r, isShown))...)
	visible := map[string]bool{}
	for _, v := range p.VHosts(r) {
		visible[v.Name] = true
	}
	list = append(list, p.shovelMatters(visible)...)
	list = append(list, p.queueMatters(visible)...)
	slices.SortStableFunc(list, func(a, b Matter) int { return cmp.Compare(a.Severity, b.Severity) })
	return Attention{rest.List(list, func(m Matter) Matter { return m })}, nil
}

func (p *api) alarmMatter(a *broker.Alarm) Matter {
	res := p.Broker.Resources()
	text := fmt.Sprintf("Publishers are blocked: messages use %s of memory, the limit is %s (memory_limit).", size(res.Memory), size(res.MemoryLimit))
	if a.Reason == broker.LowOnDisk {
		text = fmt.Sprintf("Publishers are blocked: %s are free on the disk, the limit is %s (disk_free_limit).", size(res.DiskFree), size(max(res.DiskFreeLimit, 0)))
	}
	if len(a.Nodes) > 0 {
		text = fmt.Sprintf("Publishers are blocked: %s have less free disk space than disk_free_limit, and the other nodes are no majority.", strings.Join(a.Nodes, ", "))
	}
	return Matter{Kind: "alarm", Severity: critical, Name: resources[a.Reason], Text: text}
}

// nodeMatters returns the matters of this node.
func (p *api) nodeMatters() (list []Matter) {
	alarm := p.Broker.Alarm()
	if alarm != nil {
		list = append(list, p.alarmMatter(alarm))
	}
	if st := p.Broker.Stats().LogState; st.Err != nil {
		list = append(list, Matter{Kind: "log", Severity: critical, Text: "The log does not accept writes: " + st.Err.Error()})
	}
	res := p.Broker.Resources()
	if left, ok := p.o.Monitor.Forecast("disk_free", max(res.DiskFreeLimit, 0)); ok && res.DiskFree >= 0 && left < soonFull {
		list = append(list, forecast("disk", left, fmt.Sprintf("%s are free. At the rate of the last minutes the disk alarm is reached in %s.", size(res.DiskFree), span(left))))
	}
	// Above half of the limit, bodies are moved from memory to disk.
	if left, ok := p.o.Monitor.Forecast("message_memory", res.MemoryLimit); ok && res.Memory > res.MemoryLimit/2 && left < memoryFull && alarm == nil {
		list = append(list, forecast("memory", left, fmt.Sprintf("Messages use %s of %s. At the rate of the last minutes the memory alarm is reached in %s.", size(res.Memory), size(res.MemoryLimit), span(left))))
	}
	if cert := p.o.CertificateInUse(); cert != nil {
		switch left := time.Until(cert.NotAfter); {
		case left <= 0:
			list = append(list, Matter{Kind: "certificate", Severity: critical, Text: "The TLS certificate has expired."})
		case left < nearExpiry:
			list = append(list, Matter{Kind: "certificate", Severity: warning, Text: "The TLS certificate expires in " + span(left) + "."})
		}
	}
	return list
}

func forecast(kind string, left time.Duration, text string) Matter {
	m := Matter{Kind: kind, Severity: warning, Text: text}
	if left < urgent {
		m.Severity = critical
	}
	return m
}

// memberMatters returns the matters of the nodes of a cluster.
func (p *api) memberMatters() (list []Matter) {
	if p.o.Membership == nil {
		return nil
	}
	s := p.o.Membership.Status()
	for i := range s.Members {
		switch m := &s.Members[i]; {
		case !m.Up:
			list = append(list, Matter{Kind: "node", Severity: critical, Name: m.Name(), Text: "The node is down."})
		case m.Lags && m.Votes():
			list = append(list, Matter{Kind: "node", Severity: critical, Name: m.Name(), Text: "The node does not keep up with the log: its disk is full or hangs, or it still catches up."})
		}
	}
	if len(list) > 0 && s.Critical() {
		list = append(list, Matter{Kind: "node", Severity: critical, Text: "If one more node stops, nothing can be written: the others would be no majority."})
	}
	return list
}

func (p *api) loginMatters() (list []Matter) {
	for _, f := range p.Logins.Failing() {
		if f.Failures >= fewFailures {
			text := fmt.Sprintf("%s failed from %s, the last %s ago.", many(f.Failures, "login"), cmp.Or(f.Address, "this machine"), span(time.Since(f.Last)))
			list = append(list, Matter{Kind: "login", Severity: warning, Name: f.User, Text: text})
		}
	}
	return bounded(list, "more users or addresses have failed logins")
}

func (p *api) connectionMatters(list []*protocol.Client) (found []Matter) {
	count := map[string]int{}
	for _, c := range list {
		count[c.State()]++
	}
	if n := count[protocol.StateBlocked]; n > 0 {
		found = append(found, Matter{Kind: "connection", Severity: critical, Text: many(n, "connection") + " blocked: publishers wait until the alarm is over."})
	}
	if n := count[protocol.StateFlow]; n > 0 {
		found = append(found, Matter{Kind: "connection", Severity: warning, Text: many(n, "connection") + " slowed down: publishers exceed a rate limit."})
	}
	return found
}

func (p *api) shovelMatters(visible map[string]bool) (list []Matter) {
	for _, s := range p.shovels() {
		if visible[s.VHost] && s.State == dynamic.Terminated {
			list = append(list, Matter{Kind: "shovel", Severity: warning, VHost: s.VHost, Name: s.Name, Text: "The shovel does not run: " + s.Reason})
		}
	}
	return bounded(list, "more shovels do not run")
}

// queueMatters returns the matters of the queues of virtual hosts, fullest first.
func (p *api) queueMatters(visible map[string]bool) []Matter {
	var queues []inspect.QueueSample
	p.o.Monitor.Read(func(s *inspect.Sample, _ *monitor.Edge, _ *monitor.Process) {
		for i := range s.Queues {
			if visible[s.Queues[i].VHost] {
				queues = append(queues, *s.Queues[i])
			}
		}
	})
	slices.SortFunc(queues, func(a, b inspect.QueueSample) int {
		return cmp.Or(cmp.Compare(b.Ready+b.Unacked, a.Ready+a.Unacked), cmp.Compare(a.VHost, b.VHost), cmp.Compare(a.Name, b.Name))
	})
	dead := inspect.DeadLetterQueues(p.Broker, func(inspect.QueueName) bool { return true })
	var growing, idle, letters, failing []Matter
	for i := range queues {
		q := &queues[i]
		add := func(list *[]Matter, kind, text string, v ...any) {
			*list = append(*list, Matter{Kind: kind, Severity: warning, VHost: q.VHost, Name: q.Name, Text: fmt.Sprintf(text, v...)})
		}
		t := p.o.Monitor.QueueTrend(q.ID)
		alone, isDead := t.Waiting && q.Consumers == 0, dead[inspect.QueueName{VHost: q.VHost, Name: q.Name}]
		switch {
		case alone && isDead:
			add(&letters, "dead_letters", "%s, and no consumer.", many(q.Ready, "dead letter"))
		case alone:
			add(&idle, "no_consumer", "%s, and no consumer.", many(q.Ready, "ready message"))
		}
		if t.Growth > 0 && !isDead {
			add(&growing, "growing", "It grows by %s a minute, and has %s.", many(int(math.Round(float64(t.Growth)*float64(time.Minute)/float64(t.Over))), "message"), thousands(q.Ready+q.Unacked))
		}
		if t.Died > 0 {
			add(&failing, "failing", "%s in the last %s were rejected, returned too often, or pushed out.", many(t.Died, "message"), span(t.Over))
		}
	}
	return slices.Concat(bounded(growing, "more queues grow"), bounded(idle, "more queues have messages and no consumer"),
		bounded(letters, "more queues have dead letters"), bounded(failing, "more queues have messages that fail"))
}

// bounded keeps the first matters of a kind and replaces the rest by one with their number.
func bounded(list []Matter, rest string) []Matter {
	left := len(list) - mostOfAKind
	if left <= 0 {
		return list
	}
	return append(list[:mostOfAKind], Matter{Kind: list[0].Kind, Severity: list[0].Severity, Text: thousands(left) + " " + rest + "."})
}
