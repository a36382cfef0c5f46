package overview

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/lists"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/monitor"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
	"fiveways.dev/fiveways/internal/protocol/httpapi/resttest"
	"fiveways.dev/fiveways/internal/shovel/dynamic"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// node is a broker in memory with the paths and simulated connections.
type node struct {
	t       *testing.T
	b       *broker.Broker
	a       *rest.API
	handler http.Handler // requires logins
	o       rest.Node
	cert    *x509.Certificate
	shovels []dynamic.Status
	later   time.Duration // how far the clock of the monitor is ahead
}

func open(t *testing.T) *node {
	t.Helper()
	n := &node{t: t, b: resttest.OpenBroker(t)}
	n.o = rest.Node{
		Name: "fiveways", Product: "Fiveways", Version: "v1.2.3-4-g16dcefc", RabbitMQ: "3.10.8", Clients: protocol.NewClients(), Connections: protocol.NewLimit(2),
		Endpoints: func() []protocol.Endpoint {
			return []protocol.Endpoint{{Protocol: "amqp", Address: "127.0.0.1:5672", TLS: true}, {Protocol: "http", Address: "[::]:15672"}}
		},
		Certificate: func() *x509.Certificate { return n.cert },
		MemoryLimit: func() int64 { return 1 << 30 },
	}
	start := time.Now() // a test that takes a second must not change rates
	n.o.Monitor = monitor.New(n.b, monitor.Options{Edge: n.o.Clients.Observe, Now: func() time.Time { return start.Add(n.later) }})
	n.a = rest.New(n.b, rest.Options{LoginDelay: -1, Log: resttest.Quiet})
	Register(n.a, n.o, func() []dynamic.Status { return n.shovels })
	n.handler = rest.NewServer(n.a, rest.ServerOptions{Log: resttest.Quiet}).Handler()
	return n
}

// part is a connection of a protocol that is not present.
type part struct {
	channels []protocol.Channel
	ended    string
}

func (p *part) End(reason string)            { p.ended = reason }
func (p *part) Channels() []protocol.Channel { return p.channels }

// conn is a socket with addresses.
type conn struct {
	net.Conn
	port int
}

func (c *conn) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: c.port} }
func (c *conn) LocalAddr() net.Addr  { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 5672} }

// connect creates a connection of a user with a channel.
func (n *node) connect(port int, user string) (*protocol.Client, *part) {
	p := &part{channels: []protocol.Channel{{
		Number: 1, Consumers: 1, Prefetch: 5, Confirms: true, Unacked: 2,
		Counts: protocol.ChannelCounts{Published: 3, Confirmed: 3, Delivered: 2, Acked: 1},
	}}}
	c := n.o.Clients.Enter(&conn{port: port}, uint64(port), "amqp", p)
	c.LogIn(protocol.Login{
		User: user, VHost: "/", Version: "AMQP 0-9-1", Mechanism: "PLAIN", FrameMax: 131072, ChannelMax: 2047, Heartbeat: time.Minute,
		Properties: message.Table{{Name: "connection_name", Value: "mine"}, {Name: "capabilities", Value: message.Table{{Name: "basic.nack", Value: true}}}},
	})
	c.In.Add(100)
	return c, p
}

// use declares a queue with a consumer and a message, as the user of a connection.
func (n *node) use(name string) {
	n.t.Helper()
	s, err := n.b.NewSession(broker.SessionOptions{User: "guest", VHost: "/", Name: name, Sink: sink{}})
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(s.Close)
	if _, err := s.DeclareQueue(catalog.QueueSpec{Name: "q", Durable: true, Policy: catalog.DefaultQueuePolicy()}); err != nil {
		n.t.Fatal(err)
	}
	if err := s.Do(&lists.Push{OnQueue: broker.OnQueue{Queue: "q"}, Bodies: [][]byte{[]byte("m")}}); err != nil {
		n.t.Fatal(err)
	}
	if _, err := s.Consume(shard.ConsumerSpec{Queue: "q", Tag: "tag", Channel: 1, Prefetch: 5}); err != nil {
		n.t.Fatal(err)
	}
}

// declareQuorum declares a quorum queue.
func (n *node) declareQuorum(name string) {
	n.t.Helper()
	s, err := n.b.Operate("/")
	if err != nil {
		n.t.Fatal(err)
	}
	defer s.Close()
	spec := catalog.QueueSpec{Name: name, Durable: true, Args: message.Table{{Name: "x-queue-type", Value: rest.Quorum}}, Policy: catalog.DefaultQueuePolicy()}
	if _, err := s.DeclareQueue(spec); err != nil {
		n.t.Fatal(err)
	}
}

// sink is a consumer that ignores deliveries.
type sink struct{}

func (sink) Deliver([]shard.Delivery)  {}
func (sink) Cancelled(*shard.Consumer) {}

// ask sends a request as the operator or as a user whose password is its name.
func (n *node) ask(method, path, user string, header ...string) (int, string) {
	n.t.Helper()
	w, r := httptest.NewRecorder(), httptest.NewRequest(method, path, nil)
	r.RemoteAddr, r.Host = "127.0.0.1:4000", "127.0.0.1"
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	if user == "" {
		n.a.ServeHTTP(w, r)
	} else {
		r.SetBasicAuth(user, user)
		n.handler.ServeHTTP(w, r)
	}
	got, err := io.ReadAll(w.Body)
	if err != nil {
		n.t.Fatal(err)
	}
	resttest.CheckReply(n.t, n.a, r, w.Code, string(got))
	return w.Code, string(got)
}

func (n *node) wants(method, path, user string, status int, texts ...string) {
	n.t.Helper()
	code, got := n.ask(method, path, user)
	if code != status {
		n.t.Errorf("%s %s by %q: %d %s", method, path, user, code, got)
	}
	for _, text := range texts {
		if !strings.Contains(got, text) {
			n.t.Errorf("%s %s by %q: %s\nwithout %s", method, path, user, got, text)
		}
	}
}

func (n *node) addUser(name string, vhost string, tags ...string) {
	n.t.Helper()
	resttest.AddUser(n.t, n.b, name, vhost, tags...)
}

const (
	one = "127.0.0.1:4001%20-%3E%20127.0.0.1:5672"
	two = "127.0.0.1:4002%20-%3E%20127.0.0.1:5672"
)

// recorded returns the types of the fields in RabbitMQ 3.10.8's answers while a client published,
// consumed and got.
func recorded(t *testing.T) map[string]any {
	t.Helper()
	b, err := os.ReadFile("testdata/rabbitmq-3.10.8.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// typeOf returns the type of a value, in the terms of the record.
func typeOf(v any) string {
	switch v.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "list"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case nil:
		return "null"
	}
	return "string"
}

// compare checks that each field present in both has the same type. It returns the number of these
// fields.
func compare(t *testing.T, at string, got, want any) (n int) {
	t.Helper()
	if text, ok := want.(string); ok {
		if is := typeOf(got); is != text && is != "null" && text != "null" {
			t.Errorf("%s is a %s, RabbitMQ's is a %s", at, is, text)
		}
		return 1
	}
	switch want := want.(type) {
	case map[string]any:
		of, ok := got.(map[string]any)
		if !ok {
			t.Errorf("%s is a %s, RabbitMQ's is an object", at, typeOf(got))
			return 0
		}
		for name, v := range of {
			if w, known := want[name]; known {
				n += compare(t, at+"."+name, v, w)
			}
		}
	case []any:
		of, ok := got.([]any)
		if !ok {
			t.Errorf("%s is a %s, RabbitMQ's is a list", at, typeOf(got))
			return 0
		}
		for i, v := range of {
			if len(want) > 0 {
				n += compare(t, fmt.Sprintf("%s[%d]", at, i), v, want[0])
			}
		}
	}
	return n
}

// Fields with RabbitMQ's names have its types, and the fields that tools rely on exist.
func TestFieldsAreRabbitMQs(t *testing.T) {
	n := open(t)
	c, _ := n.connect(4001, "guest")
	n.use(c.Name())
	n.o.Monitor.Sample()
	n.o.Monitor.Sample()
	reference := recorded(t)
	for path, k := range map[string]struct {
		ask    string
		fields []string // required fields
	}{
		"/api/overview": {"/api/overview?lengths_age=60&lengths_incr=5&msg_rates_age=60&msg_rates_incr=5", []string{
			"management_version", "rabbitmq_version", "cluster_name", "message_stats", "queue_totals", "object_totals", "churn_rates", "listeners", "contexts",
			"exchange_types", "node", "product_name", "statistics_db_event_queue", "rates_mode", "sample_retention_policies",
		}},
		"/api/nodes": {"/api/nodes", []string{
			"name", "running", "type", "mem_used", "mem_limit", "mem_alarm", "disk_free", "disk_free_limit", "disk_free_alarm", "fd_used", "fd_total",
			"sockets_used", "sockets_total", "proc_used", "uptime", "io_sync_avg_time", "partitions", "mem_used_details", "latency",
		}},
		"/api/nodes/{node}/memory": {"/api/nodes/fiveways/memory", []string{"memory"}},
		"/api/connections": {"/api/connections", []string{
			"name", "user", "vhost", "state", "channels", "peer_host", "peer_port", "host", "port", "client_properties", "protocol", "timeout", "connected_at",
			"user_provided_name", "recv_oct", "recv_oct_details", "send_oct", "ssl", "ssl_protocol", "auth_mechanism", "frame_max", "channel_max",
		}},
		"/api/channels": {"/api/channels", []string{
			"name", "number", "user", "vhost", "node", "connection_details", "consumer_count", "confirm", "transactional", "prefetch_count",
			"global_prefetch_count", "messages_unacknowledged", "messages_unconfirmed", "messages_uncommitted", "acks_uncommitted", "message_stats", "state",
		}},
		"/api/channels/{name}": {"/api/channels/" + one + "%20(1)", []string{"consumer_details", "message_stats", "deliveries", "publishes"}},
		"/api/consumers": {"/api/consumers", []string{
			"queue", "consumer_tag", "ack_required", "prefetch_count", "exclusive", "active", "activity_status", "arguments", "channel_details",
		}},
	} {
		code, text := n.ask("GET", k.ask, "")
		var got any
		if err := json.Unmarshal([]byte(text), &got); err != nil || code != http.StatusOK {
			t.Errorf("%s: %d, %v: %s", path, code, err, text)
			continue
		}
		if compare(t, path, got, reference[path]) < len(k.fields) {
			t.Errorf("%s has little in common with RabbitMQ's: %s", path, text)
		}
		if list, ok := got.([]any); ok && len(list) > 0 {
			got = list[0]
		}
		has, _ := got.(map[string]any)
		for _, name := range k.fields {
			if _, ok := has[name]; !ok {
				t.Errorf("%s has no %s: %s", path, name, text)
			}
		}
	}
}

func TestOverviewTells(t *testing.T) {
	n := open(t)
	c, _ := n.connect(4001, "guest")
	n.use(c.Name())
	n.o.Monitor.Sample()
	n.wants("GET", "/api/overview", "", 200, `"object_totals":{"channels":1,"connections":1,"consumers":1,"exchanges":7,"queues":1}`,
		`"messages_unacknowledged":1`, `"publish":1,`, `"connection_created":1`, `"rabbitmq_version":"3.10.8"`, `"management_version":"3.10.8"`, `"product_version":"1.2.3"`,
		`"fiveways_version":"v1.2.3-4-g16dcefc"`, `"protocol":"amqp/ssl"`, `"cluster_name":"fiveways"`, `"alarms":[]`)
	n.wants("GET", "/api/nodes/fiveways", "", 200, `"mem_limit":1073741824`, `"name":"rabbit","version":"3.10.8"`, `"sockets_total":2`)
	n.wants("GET", "/api/nodes/other", "", 404, "Not Found")
	n.wants("GET", "/api/listeners", "", 200, `{"protocol":"amqp","address":"127.0.0.1","port":5672,"tls":true,"command":"python3 -c \"import pika, ssl;`,
		`"command":"curl -u guest:guest http://127.0.0.1:15672/api/overview"`)
	n.wants("GET", "/api/consumers/%2F", "", 200, `"name":"`+c.Name()[:14], `"number":1`, `"peer_port":4001`)
	n.wants("GET", "/api/consumers/none", "", 404)
	n.wants("GET", "/api/connections?page=1&page_size=1&name=4001", "", 200, `"total_count":1`)
	n.wants("GET", "/api/vhosts/%2F/channels", "", 200, `"confirm":3,`)
	n.wants("GET", "/api/vhosts/none/connections", "", 404)
	n.wants("GET", "/api/connections/"+one+"/channels", "", 200, `(1)"`)
	n.wants("GET", "/api/connections/"+one+"/other", "", 404)
	n.wants("GET", "/api/connections/"+two, "", 404)
	n.wants("GET", "/api/channels/"+one+"%20(2)", "", 404)
}

// Without the tag monitoring a user sees its own objects, and what is in virtual hosts that it has
// access to.
func TestWhoSeesWhat(t *testing.T) {
	n := open(t)
	if _, err := n.b.PutVHost(catalog.VHostSpec{Name: "v"}); err != nil {
		t.Fatal(err)
	}
	n.addUser("alice", "v", "management")
	n.addUser("monitor", "", "monitoring")
	c, _ := n.connect(4001, "guest")
	n.connect(4002, "alice")
	n.use(c.Name())
	n.o.Monitor.Sample()
	for path, texts := range map[string]struct {
		monitor, alice []string // what each sees
		not            string   // what alice does not see
		refused        bool     // alice is refused
	}{
		"/api/connections":                      {[]string{":4001", ":4002"}, []string{":4002"}, ":4001", false},
		"/api/channels":                         {[]string{":4001", ":4002"}, []string{":4002"}, ":4001", false},
		"/api/consumers":                        {[]string{`"tag"`}, []string{"[]"}, "tag", false},
		"/api/overview":                         {[]string{`"queues":1`, "churn_rates", `"messages":1,`}, []string{`"queues":0`, `"connections":1`, `"messages":0,`}, "churn_rates", false},
		"/api/nodes":                            {[]string{"mem_used"}, nil, "", true},
		"/api/nodes/fiveways/memory":            {[]string{"rss"}, nil, "", true},
		"/api/connections/" + one:               {[]string{":4001"}, nil, "", true},
		"/api/connections/" + two:               {[]string{":4002"}, []string{":4002"}, "", false},
		"/api/channels/" + one + "%20(1)":       {[]string{":4001"}, nil, "", true},
		"/api/connections/username/guest":       {[]string{":4001"}, nil, "", true},
		"/api/connections/username/alice":       {[]string{":4002"}, []string{":4002"}, ":4001", false},
		"/api/vhosts/%2F/connections":           {[]string{":4001"}, nil, "", true},
		"/api/connections/" + one + "/channels": {[]string{":4001"}, nil, "", true},
	} {
		n.wants("GET", path, "monitor", http.StatusOK, texts.monitor...)
		if texts.refused {
			n.wants("GET", path, "alice", http.StatusUnauthorized, "not_authorised")
			continue
		}
		n.wants("GET", path, "alice", http.StatusOK, texts.alice...)
		if _, got := n.ask("GET", path, "alice"); texts.not != "" && strings.Contains(got, texts.not) {
			t.Errorf("%s tells alice of %s: %s", path, texts.not, got)
		}
	}
}

// A connection can be closed by its own user or by an administrator, with a reason that the client
// gets.
func TestClosing(t *testing.T) {
	n := open(t)
	n.addUser("alice", "", "management")
	n.addUser("monitor", "", "monitoring")
	_, guests := n.connect(4001, "guest")
	_, alices := n.connect(4002, "alice")
	for _, who := range []string{"alice", "monitor"} {
		n.wants("DELETE", "/api/connections/"+one, who, http.StatusUnauthorized, "User not authorised to access object")
		n.wants("DELETE", "/api/connections/username/guest", who, http.StatusUnauthorized)
	}
	if guests.ended != "" {
		t.Errorf("somebody closed the connection of another: %s", guests.ended)
	}
	n.wants("DELETE", "/api/connections/none", "guest", http.StatusNotFound)
	n.wants("DELETE", "/api/connections/"+two, "alice", http.StatusNoContent)
	if alices.ended != "Closed via management plugin" {
		t.Errorf("ended for %q", alices.ended)
	}
	if code, got := n.ask("DELETE", "/api/connections/"+one, "guest", "X-Reason", " maintenance "); code != http.StatusNoContent || guests.ended != "maintenance" {
		t.Errorf("%d %s, ended for %q", code, got, guests.ended)
	}
	guests.ended = ""
	n.wants("DELETE", "/api/connections/username/guest", "guest", http.StatusNoContent)
	if guests.ended == "" {
		t.Error("the user's connections are open")
	}
}

func TestHealthChecks(t *testing.T) {
	n := open(t)
	for path, k := range map[string]struct {
		status int
		text   string
	}{
		"alarms":                           {200, `{"status":"ok"}`},
		"local-alarms":                     {200, `{"status":"ok"}`},
		"virtual-hosts":                    {200, `{"status":"ok"}`},
		"node-is-mirror-sync-critical":     {200, `"reason":"single node cluster"`},
		"node-is-quorum-critical":          {200, `"reason":"single node cluster"`},
		"ready-to-serve-clients":           {200, `{"status":"ok"}`},
		"is-in-service":                    {200, `{"status":"ok"}`},
		"below-node-connection-limit":      {200, `{"status":"ok"}`},
		"port-listener/5672":               {200, `"port":5672`},
		"port-listener/1":                  {503, `"missing":1,"ports":[5672,15672],"reason":"No active listener","status":"failed"`},
		"port-listener/x":                  {400, "Invalid port"},
		"protocol-listener/amqp":           {200, `"protocol":"amqp"`},
		"protocol-listener/amqp091":        {200, `"protocol":"amqp"`},
		"protocol-listener/amqp/ssl":       {200, `"protocol":"amqp/ssl"`},
		"protocol-listener/mqtt":           {503, `"missing":"mqtt","protocols":["amqp","amqp/ssl","http"]`},
		"certificate-expiration/1/months":  {200, `{"status":"ok"}`},
		"certificate-expiration/x/months":  {400, "Invalid expiration value"},
		"certificate-expiration/-1/months": {400, "Invalid expiration value"},
		"certificate-expiration/1/moons":   {400, "Time unit not recognised"},
	} {
		n.wants("GET", "/api/health/checks/"+path, "", k.status, k.text)
	}
	n.cert = &x509.Certificate{NotAfter: time.Now().AddDate(0, 0, 10)}
	n.wants("GET", "/api/health/checks/certificate-expiration/1/weeks", "", 200)
	n.wants("GET", "/api/health/checks/certificate-expiration/2/weeks", "", 503, "Certificates expiring", `"protocol":"amqp/ssl"`)
	for range 2 {
		n.o.Connections.Acquire()
	}
	n.wants("GET", "/api/health/checks/below-node-connection-limit", "", 503, "node connection limit is reached", `"status":"failed"`)
}

// While publishers are blocked, the checks of alarms fail and the node's object shows the alarm.
func TestAlarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.Open(t, vfs.NewMem(), func(o *broker.Options) { o.DiskFreeLimit = 1 << 60 })
		n := &node{t: t, b: b, a: rest.New(b, rest.Options{Log: slog.New(slog.DiscardHandler)})}
		Register(n.a, rest.Node{Name: "fiveways", Monitor: monitor.New(b, monitor.Options{})}, func() []dynamic.Status { return nil })
		time.Sleep(time.Second)
		synctest.Wait()
		for _, check := range []string{"alarms", "local-alarms"} {
			n.wants("GET", "/api/health/checks/"+check, "", 503, `"alarms":[{"node":"fiveways","resource":"disk"}]`, `"status":"failed"`)
		}
		n.wants("GET", "/api/overview", "", 200, `"alarms":["disk"]`)
		n.wants("GET", "/api/nodes", "", 200, `"disk_free_alarm":true`, `"mem_alarm":false`)
		enginetest.Close(t, b)
	})
}

// An alarm for the disks of other nodes names those nodes.
func TestAlarmForOtherNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.Open(t, vfs.NewMem(), nil)
		n := &node{t: t, b: b, a: rest.New(b, rest.Options{Log: slog.New(slog.DiscardHandler)})}
		Register(n.a, rest.Node{Name: "n1", Monitor: monitor.New(b, monitor.Options{})}, func() []dynamic.Status { return nil })
		b.WatchDisks(func() []string { return []string{"n2", "n3"} })
		<-time.After(2 * time.Second)
		synctest.Wait()
		for _, check := range []string{"alarms", "local-alarms"} {
			n.wants("GET", "/api/health/checks/"+check, "", 503, `"alarms":[{"node":"n2","resource":"disk"},{"node":"n3","resource":"disk"}]`)
		}
		enginetest.Close(t, b)
	})
}

func TestSuites(t *testing.T) {
	for name, want := range map[string][]string{
		"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256": {"ecdhe_rsa", "aes_128_gcm", "sha256"},
		"TLS_AES_256_GCM_SHA384":                {"any", "aes_256_gcm", "sha384"},
	} {
		exchange, cipher, hash := suite(name)
		if got := []string{exchange, cipher, hash}; !slices.Equal(got, want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}
