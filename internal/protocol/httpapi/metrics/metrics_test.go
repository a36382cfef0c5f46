package metrics

import (
	"compress/gzip"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/broker/enginetest"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/jobs"
	"fiveways.dev/fiveways/internal/broker/lists"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/monitor"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
	"fiveways.dev/fiveways/internal/protocol/httpapi/resttest"
	"fiveways.dev/fiveways/internal/protocol/protocoltest"
	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/shovel/dynamic"
	"fiveways.dev/fiveways/internal/storage/vfs"
	"fiveways.dev/fiveways/internal/traces"
)

// part is a connection of a protocol that is not present.
type part struct{}

func (part) End(string) {}
func (part) Channels() []protocol.Channel {
	return []protocol.Channel{{Number: 1, Consumers: 2, Counts: protocol.ChannelCounts{Published: 10, Confirmed: 9, Returned: 1, Dropped: 2, Delivered: 4, Acked: 3}}}
}

// node is a broker with metrics.
type node struct {
	http.Handler
	b *broker.Broker
	s *broker.Session // has all permissions
	m *monitor.Monitor
	l *protocol.Logins
	c *protocol.Client // with a channel
}

// openNode returns a node with this many queues of one message each, and one of everything else
// that is counted.
func openNode(t testing.TB, queues int) *node { return openOn(t, vfs.NewMem(), queues) }

func openOn(t testing.TB, fs vfs.FS, queues int, more ...func(*broker.Options)) *node {
	t.Helper()
	sems := semaphores.New(semaphores.Options{Logger: resttest.Quiet})
	b := resttest.Open(t, fs, append(more, func(o *broker.Options) {
		o.StateMachines = protocoltest.Machines(sems, nil)
	})...)
	if err := sems.Start(b); err != nil {
		t.Fatal(err)
	}
	s, err := b.Operate("/")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		sems.Stop()
		enginetest.Close(t, b)
	})
	for i := range queues {
		resttest.Declare(t, s, fmt.Sprintf("q%d", i))
		push(t, s, fmt.Sprintf("q%d", i))
	}
	clients := protocol.NewClients()
	client, other := net.Pipe()
	t.Cleanup(func() { client.Close(); other.Close() })
	c := clients.Enter(client, 1, "amqp", part{})
	c.LogIn(protocol.Login{User: "guest", VHost: "/"})
	a := rest.New(b, rest.Options{Log: resttest.Quiet})
	n := &node{a, b, s, monitor.New(b, monitor.Options{Edge: clients.Observe}), a.Logins, c}
	n.m.Sample()
	Register(a, rest.Anyone, Options{
		Node: rest.Node{
			Name: "fiveways", Product: "Fiveways", Version: "16dcefc", RabbitMQ: "3.10.8", Clients: clients, Connections: protocol.NewLimit(100), Monitor: n.m,
			MemoryLimit: func() int64 { return 1 << 30 }, KeyBytes: func() int64 { return 7 },
			Endpoints:   func() []protocol.Endpoint { return []protocol.Endpoint{{Protocol: "sql", Address: "127.0.0.1:5433"}} },
			Certificate: func() *x509.Certificate { return &x509.Certificate{NotAfter: time.Unix(1_900_000_000, 0)} },
		},
		Logins: a.Logins, Semaphores: sems,
		Spans: func() traces.Stats { return traces.Stats{Sent: 3, Dropped: 2} },
		Shovels: func() []dynamic.Status {
			return []dynamic.Status{{VHost: "/", Name: "s", State: dynamic.Running, Moved: 5}, {VHost: "/", Name: "down", State: dynamic.Terminated, Reason: "refused"}}
		},
	})
	return n
}

// push publishes a message to a queue.
func push(t testing.TB, s *broker.Session, queue string) {
	t.Helper()
	if err := s.Do(&lists.Push{OnQueue: broker.OnQueue{Queue: queue}, Bodies: [][]byte{[]byte("body")}}); err != nil {
		t.Fatal(err)
	}
}

// publish publishes this many messages of 4 KiB with properties to a queue, all at once.
func publish(t testing.TB, s *broker.Session, queue string, messages int, p message.Properties) {
	t.Helper()
	props := p.Append(nil)
	peek, err := message.PeekProperties(props)
	if err != nil {
		t.Error(err)
	}
	for range messages {
		targets, err := s.Route(nil, []byte(queue), &peek, nil)
		if err != nil {
			t.Error(err)
		}
		env := append(message.AppendEnvelopeHeader(nil, "", queue, props), make([]byte, 4<<10)...)
		s.Publish(&shard.Publish{Targets: targets, Env: env, TTL: -1, Persistent: p.DeliveryMode == 2})
	}
	s.Flush()
}

const everyFamily = "/metrics/detailed?family=queue_coarse_metrics&family=queue_metrics&family=queue_consumer_count&family=connection_churn_metrics" +
	"&family=connection_coarse_metrics&family=connection_metrics&family=channel_metrics&family=channel_exchange_metrics&family=channel_queue_metrics" +
	"&family=node_coarse_metrics&family=node_metrics&family=node_persister_metrics&family=auth_attempt_metrics&family=vhost_status&family=exchange_names&family=exchange_bindings"

func scrape(t testing.TB, h http.Handler, path string) string {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	return w.Body.String()
}

// typesOf returns the types of the families of an exposition.
func typesOf(text string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 4 && f[1] == "TYPE" {
			all[f[2]] = f[3]
		}
	}
	return all
}

// A metric with RabbitMQ's name has RabbitMQ's type, and everything that RabbitMQ's dashboards use
// exists.
func TestNamesAreRabbitMQs(t *testing.T) {
	record, err := os.ReadFile("testdata/rabbitmq-3.10.8.txt")
	if err != nil {
		t.Fatal(err)
	}
	theirs := map[string]string{}
	for line := range strings.Lines(string(record)) {
		name, kind, _ := strings.Cut(strings.TrimSpace(line), " ")
		theirs[name] = kind
	}
	h := openNode(t, 3)
	for _, path := range []string{"/metrics", "/metrics/per-object", everyFamily} {
		types := typesOf(scrape(t, h, path))
		if len(types) < 20 {
			t.Errorf("%s has %d families", path, len(types))
		}
		for name, kind := range types {
			if !strings.HasPrefix(name, "rabbitmq_") {
				continue
			}
			if want, known := theirs[name]; !known {
				t.Errorf("%s: RabbitMQ has no %s", path, name)
			} else if kind != want && want != "untyped" {
				t.Errorf("%s: %s is a %s, RabbitMQ's is a %s", path, name, kind, want)
			}
		}
	}
	types := typesOf(scrape(t, h, "/metrics"))
	for _, name := range strings.Fields(`rabbitmq_identity_info rabbitmq_build_info rabbitmq_queue_messages_ready rabbitmq_queue_messages_unacked
		rabbitmq_channel_messages_published_total rabbitmq_channel_messages_confirmed_total rabbitmq_channel_messages_delivered_total
		rabbitmq_channel_messages_delivered_ack_total rabbitmq_channel_messages_redelivered_total rabbitmq_channel_messages_acked_total
		rabbitmq_channel_messages_unroutable_dropped_total rabbitmq_channel_messages_unroutable_returned_total rabbitmq_channel_messages_unconfirmed
		rabbitmq_channel_get_total rabbitmq_channel_get_ack_total rabbitmq_channel_get_empty_total rabbitmq_channel_consumers rabbitmq_channels
		rabbitmq_connections rabbitmq_queues rabbitmq_consumers rabbitmq_resident_memory_limit_bytes rabbitmq_process_resident_memory_bytes
		rabbitmq_process_open_fds rabbitmq_process_max_fds rabbitmq_process_open_tcp_sockets rabbitmq_process_max_tcp_sockets
		rabbitmq_disk_space_available_bytes rabbitmq_disk_space_available_limit_bytes rabbitmq_queues_declared_total rabbitmq_queues_created_total
		rabbitmq_queues_deleted_total rabbitmq_channels_opened_total rabbitmq_channels_closed_total rabbitmq_connections_opened_total
		rabbitmq_connections_closed_total rabbitmq_global_messages_received_total rabbitmq_global_messages_routed_total
		rabbitmq_global_messages_confirmed_total rabbitmq_global_messages_delivered_total rabbitmq_global_messages_acknowledged_total
		rabbitmq_global_messages_dead_lettered_expired_total rabbitmq_global_publishers rabbitmq_global_consumers`) {
		if _, ok := types[name]; !ok {
			t.Errorf("/metrics has no %s", name)
		}
	}
}

func TestValues(t *testing.T) {
	h := openNode(t, 2)
	for path, lines := range map[string][]string{
		"/metrics": {
			"rabbitmq_queue_messages_ready 2", "rabbitmq_queues 2", "rabbitmq_connections 1", "rabbitmq_channels 1", "rabbitmq_queue_messages_ready_bytes 8",
			"rabbitmq_channel_messages_published_total 10", `rabbitmq_global_messages_routed_total{protocol="amqp091"} 7`,
			`rabbitmq_identity_info{rabbitmq_node="fiveways",rabbitmq_cluster="fiveways",rabbitmq_cluster_permanent_id="fiveways-fiveways"} 1`,
			`fiveways_messages_published_total 2`, `fiveways_connections{protocol="sql"} 0`, `fiveways_connections{protocol="amqp"} 1`,
			"fiveways_queueing_duration_seconds_count 0", `fiveways_semaphore_tasks{state="waiting"} 0`, "fiveways_key_index_bytes 7",
			`fiveways_alarm{resource="disk"} 0`, "rabbitmq_process_max_tcp_sockets 100",
			"fiveways_spans_sent_total 3", "fiveways_spans_dropped_total 2", `fiveways_shovel_running{vhost="/",shovel="s"} 1`, `fiveways_shovel_running{vhost="/",shovel="down"} 0`, `fiveways_shovel_messages_moved_total{vhost="/",shovel="s"} 5`,
		},
		"/metrics/per-object": {
			`rabbitmq_queue_messages_ready{vhost="/",queue="q1"} 1`, `rabbitmq_channel_consumers{channel="pipe -> pipe (1)"} 2`,
			`fiveways_queue_messages_scheduled{vhost="/",queue="q0"} 0`, `fiveways_exchange_messages_in_total{vhost="/",exchange="amq.topic"} 0`,
			`rabbitmq_connection_channels{connection="pipe -> pipe"} 1`,
		},
		"/metrics/detailed?family=queue_coarse_metrics": {`rabbitmq_detailed_queue_messages_ready{vhost="/",queue="q1"} 1`},
		everyFamily: {
			`rabbitmq_cluster_vhost_status{vhost="/"} 1`, `rabbitmq_cluster_exchange_name{vhost="/",exchange="amq.topic",type="topic"} 1`,
			`rabbitmq_detailed_queue_consumers{vhost="/",queue="q1"} 0`, "rabbitmq_detailed_connections_opened_total 1",
		},
	} {
		text := scrape(t, h, path)
		for _, line := range lines {
			if !strings.Contains(text, "\n"+line+"\n") {
				t.Errorf("%s: no line %s", path, line)
			}
		}
	}
	for path, not := range map[string]string{
		"/metrics": "queue=", "/metrics/detailed": "queue", "/metrics/detailed?family=queue_coarse_metrics": "consumers",
		"/metrics/detailed?family=queue_coarse_metrics&vhost=other": "queue=",
	} {
		if text := scrape(t, h, path); strings.Contains(text, not) {
			t.Errorf("%s tells of %s", path, not)
		}
	}
}

// TestClosedChannels checks that counters do not fall when a channel closes, even before the next
// sample.
func TestClosedChannels(t *testing.T) {
	h := openNode(t, 0)
	h.c.ChannelClosed(&part{}.Channels()[0].Counts)
	h.c.Leave()
	for _, path := range []string{"/metrics", "/metrics/per-object"} {
		if text := scrape(t, h, path); !strings.Contains(text, "\nrabbitmq_global_messages_received_total{protocol=\"amqp091\"} 10\n") {
			t.Errorf("%s: the counts of the closed channel are not there", path)
		}
	}
}

// Jobs are counted by state, and logins rejected unchecked are counted as such.
func TestJobsAndLogins(t *testing.T) {
	n := openNode(t, 1)
	on := broker.OnQueue{Queue: "jobs"}
	resttest.Declare(t, n.s, "jobs")
	for _, id := range []string{"queued", "locked", "done"} {
		if err := n.s.Do(&jobs.Enqueue{OnQueue: on, ID: []byte(id)}); err != nil {
			t.Fatal(err)
		}
	}
	late := &jobs.Enqueue{OnQueue: on, ID: []byte("late"), Backoff: 1_000_000}
	behind := &jobs.Enqueue{OnQueue: on, ID: []byte("queued"), Requeue: true}
	take := &jobs.Take{OnQueue: on, Lock: 1_000_000, Max: 2}
	if err := n.s.Do(late, take, behind, &jobs.Remember{OnQueue: on, ID: []byte("known"), Until: 1 << 50}); err != nil {
		t.Fatal(err)
	}
	guess := protocol.Attempt{Protocol: "amqp091", User: "guest", Peer: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}}
	gone := make(chan struct{})
	close(gone)
	for range 20 {
		if err := n.l.Password(gone, guess, "wrong"); err == nil {
			t.Fatal("a wrong password is right")
		}
	}
	n.m.Sample()
	for path, lines := range map[string][]string{
		"/metrics": {
			`fiveways_jobs{state="queued"} 1`, `fiveways_jobs{state="backoff"} 1`, `fiveways_jobs{state="locked"} 2`, `fiveways_jobs{state="behind"} 1`,
			`fiveways_jobs{state="done"} 1`, `fiveways_logins_held_back_total{protocol="sql"} 0`,
		},
		"/metrics/per-object":                    {`fiveways_queue_jobs{vhost="/",queue="jobs",state="locked"} 2`},
		"/metrics/detailed?family=queue_metrics": {`fiveways_detailed_queue_jobs{vhost="/",queue="jobs",state="behind"} 1`},
	} {
		text := scrape(t, n, path)
		for _, line := range lines {
			if !strings.Contains(text, "\n"+line+"\n") {
				t.Errorf("%s: no line %s", path, line)
			}
		}
		if strings.Contains(text, `queue_jobs{vhost="/",queue="q0"`) {
			t.Errorf("%s tells of jobs in a queue that has none", path)
		}
	}
	held := regexp.MustCompile(`fiveways_logins_held_back_total\{protocol="amqp091"\} ([1-9]\d*)\n`)
	if text := scrape(t, n, "/metrics"); !held.MatchString(text) {
		t.Error("no login was held back")
	}
}

// Names chosen by clients cannot break the format, and the response is compressed for clients that
// accept it.
func TestFormat(t *testing.T) {
	out := &sink{all: &[]*family{}}
	out.gauge("a", "line\nof \\ \"help\"", "x", "y")(1.5, "q\"\n\\", "\xff")
	out.counter("empty", "nothing")
	out.counter("big_total", "large")(1e18)
	var b strings.Builder
	if err := out.writeTo(&b); err != nil {
		t.Fatal(err)
	}
	want := "# HELP a line\\nof \\\\ \"help\"\n# TYPE a gauge\na{x=\"q\\\"\\n\\\\\",y=\"\uFFFD\"} 1.5\n# HELP big_total large\n# TYPE big_total counter\nbig_total 1e+18\n"
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/metrics", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	openNode(t, 1).ServeHTTP(w, r)
	z, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(z); err != nil || !strings.Contains(string(text), "rabbitmq_queues 1") || w.Header().Get("Content-Encoding") != "gzip" {
		t.Errorf("%v: %.100s", err, text)
	}
}

// The lint of Prometheus' library finds no problems, nor does its tool where it is installed.
func TestLint(t *testing.T) {
	h := openNode(t, 2)
	for _, path := range []string{"/metrics", "/metrics/per-object", everyFamily} {
		text := scrape(t, h, path)
		problems, err := promlint.New(strings.NewReader(text)).Lint()
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		for _, p := range problems {
			t.Errorf("%s: %s: %s", path, p.Metric, p.Text)
		}
		check := exec.Command("promtool", "check", "metrics")
		check.Stdin = strings.NewReader(text)
		if out, err := check.CombinedOutput(); errors.Is(err, exec.ErrNotFound) {
			t.Log("no promtool here (on Debian: apt-get install prometheus)")
		} else if err != nil {
			t.Errorf("%s: promtool: %v\n%s", path, err, out)
		}
	}
}

var metricName = regexp.MustCompile(`\b(?:rabbitmq|fiveways)_[a-z0-9_]+`)

// The dashboard and the alerts use only existing metrics, and the documentation covers every alert.
func TestBoardAndAlerts(t *testing.T) {
	types := typesOf(scrape(t, openNode(t, 1), "/metrics"))
	const deploy = "../../../../deploy/"
	for file, atLeast := range map[string]int{"grafana/fiveways.json": 30, "prometheus/alerts.yml": 15} {
		text := read(t, deploy+file)
		seen := map[string]bool{}
		for _, name := range metricName.FindAllString(text, -1) {
			if strings.HasPrefix(name, "fiveways_cluster_") {
				continue // these come from package control, whose test checks them
			}
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				if base, ok := strings.CutSuffix(name, suffix); ok && types[base] == "histogram" {
					name = base
				}
			}
			if types[name] == "" {
				t.Errorf("%s speaks of %s, which is not told", file, name)
			}
			seen[name] = true
		}
		if len(seen) < atLeast {
			t.Errorf("%s speaks of %d metrics", file, len(seen))
		}
	}
	about := read(t, page)
	for _, m := range regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(read(t, deploy+"prometheus/alerts.yml"), -1) {
		if !strings.Contains(about, "`"+m[1]+"`") {
			t.Errorf("the page does not say what to do about %s", m[1])
		}
	}
	for _, args := range [][]string{{"check", "config", deploy + "prometheus/prometheus.yml"}, {"test", "rules", deploy + "prometheus/alerts_test.yml"}} {
		if out, err := exec.Command("promtool", args...).CombinedOutput(); errors.Is(err, exec.ErrNotFound) {
			t.Log("no promtool here (on Debian: apt-get install prometheus)")
		} else if err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// discarded is a response that keeps only its length.
type discarded struct {
	header http.Header
	n      int
}

func (d *discarded) Header() http.Header {
	if d.header == nil {
		d.header = http.Header{}
	}
	return d.header
}
func (d *discarded) WriteHeader(int) {}
func (d *discarded) Write(p []byte) (int, error) {
	d.n += len(p)
	return len(p), nil
}

// BenchmarkScrape measures a scrape of many queues.
func BenchmarkScrape(b *testing.B) {
	for _, queues := range []int{100, 10_000} {
		h := openNode(b, queues)
		for _, path := range []string{"/metrics", "/metrics/per-object"} {
			b.Run(fmt.Sprintf("%s/%d queues", strings.TrimPrefix(path, "/"), queues), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					w := &discarded{}
					h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
					if w.n == 0 {
						b.Fatal("nothing is told")
					}
				}
			})
		}
	}
}
