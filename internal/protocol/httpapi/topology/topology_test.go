package topology

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/lists"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/monitor"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
	"fiveways.dev/fiveways/internal/protocol/httpapi/resttest"
	"fiveways.dev/fiveways/internal/protocol/protocoltest"
)

func openAPI(t testing.TB) (*broker.Broker, *rest.API) {
	t.Helper()
	b, _, a := openSampled(t)
	return b, a
}

// openSampled opens a broker with a monitor for which ten seconds pass between samples. The monitor
// reads its clock twice per sample.
func openSampled(t testing.TB) (*broker.Broker, *monitor.Monitor, *rest.API) {
	t.Helper()
	b := resttest.OpenBroker(t)
	a := rest.New(b, rest.Options{Log: resttest.Quiet})
	now := time.Unix(1000, 0)
	m := monitor.New(b, monitor.Options{Now: func() time.Time {
		now = now.Add(5 * time.Second)
		return now
	}})
	n := &rest.Node{Name: "fiveways@here", Monitor: m, Clients: protocol.NewClients()}
	n.ClusterName = func() string { return ClusterName(b, n.Name) }
	Register(a, Options{Node: n})
	return b, m, a
}

func TestQueues(t *testing.T) {
	_, a := openAPI(t)
	resttest.Play(t, a, []resttest.Step{
		{`PUT /api/queues/%2F/alpha {"durable":true,"node":"any","name":"other"}`, 201, ""},
		{`PUT /api/queues/%2F/alpha {"durable":"true"}`, 204, ""}, // in the form of RabbitMQ's own tool
		{`PUT /api/queues/%2F/alpha {"durable":1}`, 400, `not_boolean`},
		{"PUT /api/queues/%2F/alpha", 400, `{"error":"bad_request","reason":"inequivalent arg 'durable' for queue 'alpha' in vhost '/': received 'false' but current is 'true'"}`},
		{`PUT /api/queues/%2F/b {"arguments":{"x-message-ttl":-1}}`, 400, `"reason":"invalid arg 'x-message-ttl' for queue 'b' in vhost '/': {value_negative,-1}"`},
		{`PUT /api/queues/%2F/b {"arguments":{"a":null}}`, 400, `"reason":"null_not_allowed"`},
		{`PUT /api/queues/%2F/b {"arguments":[]}`, 201, ""},
		{`PUT /api/queues/%2F/b [1]`, 400, "bad_request"},
		{"PUT /api/queues/%2F/amq.q {}", 401, `{"error":"not_authorised","reason":"Access refused."}`},
		{"PUT /api/queues/none/q {}", 404, `{"error":"not_found","reason":"vhost_not_found"}`},
		{`PUT /api/queues/%2F/q%2Fq {"durable":true,"arguments":{"x-queue-type":"quorum","x-max-length":5,"x":[1,"a",{"b":1.5}]}}`, 201, ""},
		{"GET /api/queues/%2F/q%2Fq?columns=arguments,type,leader,members", 200,
			`{"arguments":{"x":[1,"a",{"b":1.5}],"x-max-length":5,"x-queue-type":"quorum"},"leader":"fiveways@here","members":["fiveways@here"],"type":"quorum"}`},
		{`PUT /api/queues/%2F/stream {"durable":true,"arguments":{"x-queue-type":"stream","x-max-age":"1D"}}`, 201, ""},
		{"GET /api/queues/%2F/stream?columns=arguments,type,leader,members,messages", 200,
			`{"arguments":{"x-max-age":"1D","x-queue-type":"stream"},"leader":"fiveways@here","members":["fiveways@here"],"messages":0,"type":"stream"}`},
		{`PUT /api/queues/%2F/stream2 {"arguments":{"x-queue-type":"stream"}}`, 400, `"reason":"invalid property 'non-durable' for queue 'stream2' in vhost '/'"`},
		{"DELETE /api/queues/%2F/stream", 204, ""},
		{"GET /api/queues/%2F/none", 404, `{"error":"Object Not Found","reason":"Not Found"}`},
		{"GET /api/queues/none", 404, "Object Not Found"},
		{"GET /api/queues/%2F/alpha", 200, `"consumer_details":[],"deliveries":[],"incoming":[]`},
		{"GET /api/queues?columns=name,vhost&sort=name&sort_reverse=true", 200, `[{"name":"q/q","vhost":"/"},{"name":"b","vhost":"/"},{"name":"alpha","vhost":"/"}]`},
		{"GET /api/queues/%2F?page=1&page_size=1&sort=messages&columns=name", 200, `"filtered_count":3,"item_count":1,"items":[{"name":"alpha"}],"page":1,"page_count":3`},
		{"GET /api/queues/detailed?page=1&name=ALPH&sort=message_stats.publish&columns=name", 200, `"items":[{"name":"alpha"}]`},
		{"GET /api/queues?disable_stats=true&page=1&page_size=1", 200, `"items":[{"arguments":{},"auto_delete":false,"durable":true,"exclusive":false,"name":"alpha","node":"fiveways@here","type":"classic","vhost":"/"}]`},
		{"GET /api/queues?disable_stats=true&enable_queue_totals=true&page=1&page_size=1", 200, `"vhost":"/","messages":0,"messages_ready":0,"messages_unacknowledged":0,"state":"running"}]`},
		{"GET /api/queues/%2F/alpha", 200, `"state":"running","activity":"running"`},
		{"GET /api/queues/%2F/alpha", 200, `"idle_since":"20`}, // since the declaration: it was never used
		{`POST /api/queues/%2F/alpha/actions {"action":"sync"}`, 204, ""},
		{`POST /api/queues/%2F/alpha/actions {"action":"dance"}`, 400, "unknown action"},
		{`POST /api/queues/%2F/none/actions {"action":"sync"}`, 404, "Not Found"},
		{"DELETE /api/queues/%2F/alpha?if-empty=maybe", 400, "true or false"},
		{"DELETE /api/queues/%2F/alpha?if-empty=true&if-unused=true", 204, ""},
		{"DELETE /api/queues/%2F/alpha", 404, "Not Found"},
		{"POST /api/rebalance/queues", 204, ""},
	})
}

func TestExchangesAndBindings(t *testing.T) {
	_, a := openAPI(t)
	resttest.Play(t, a, []resttest.Step{
		{`PUT /api/exchanges/%2F/e1 {"type":"direct"}`, 201, ""},
		{`PUT /api/exchanges/%2F/e1`, 204, ""},
		{`PUT /api/exchanges/%2F/e1 {"type":"fanout"}`, 400, `"reason":"inequivalent arg 'type' for exchange 'e1' in vhost '/': received 'fanout' but current is 'direct'"`},
		{`PUT /api/exchanges/%2F/e2 {"type":"nosuch"}`, 400, `"reason":"unknown exchange type 'nosuch'"`},
		{`PUT /api/exchanges/%2F/e2 {"type":"topic","internal":true,"durable":true,"arguments":{"alternate-exchange":"e1"}}`, 201, ""},
		{`PUT /api/exchanges/%2F/e3 {"arguments":{"alternate-exchange":5}}`, 400, "invalid type"},
		{`PUT /api/exchanges/%2F/amq.x {"type":"topic"}`, 401, "Access refused."},
		{`PUT /api/exchanges/%2F/amq.default`, 401, "Access refused."},
		{"GET /api/exchanges/%2F/e2", 200, `{"arguments":{"alternate-exchange":"e1"},"auto_delete":false,"durable":true,"internal":true,"name":"e2","type":"topic","vhost":"/","incoming":[],"outgoing":[]}`},
		{"GET /api/exchanges/%2F/amq.default?columns=name,type", 200, `{"name":"","type":"direct"}`},
		{"GET /api/exchanges/%2F//?columns=name,type", 200, `{"name":"","type":"direct"}`}, // its name is empty
		{"GET /api/exchanges/%2F//bindings/destination", 200, "[]"},
		{"GET /api/bindings/%2F/e//e/amq.direct", 200, "[]"},
		{"GET /api/exchanges//amq.direct", 404, "Not Found"},
		{"GET /api//exchanges/%2F", 404, "Not Found"},
		{"GET /api/exchanges/%2F/?columns=name", 200, `[{"name":""},{"name":"amq.direct"},`},
		{"GET /api/exchanges?page=1&name=e2&columns=name", 200, `"items":[{"name":"e2"}]`},
		{"GET /api/exchanges/%2F/none", 404, "Not Found"},
		{"DELETE /api/exchanges/%2F/amq.direct", 401, "Access refused."},
		{"DELETE /api/exchanges/%2F/amq.default", 401, "Access refused."},
		{"DELETE /api/exchanges/%2F/none", 404, "Not Found"},

		{"PUT /api/queues/%2F/q", 201, ""},
		{`POST /api/bindings/%2F/e/e1/q/q {"routing_key":"k"}`, 201, ""},
		{`POST /api/bindings/%2F/e/e1/q/q {"routing_key":"k","arguments":{"b":"x","a":1}}`, 201, ""},
		{`POST /api/bindings/%2F/e/e1/q/q`, 201, ""},
		{`POST /api/bindings/%2F/e/e1/e/e2 {"routing_key":"a/b c~d"}`, 201, ""},
		{`POST /api/bindings/%2F/e/none/q/q {}`, 404, `{"error":"not_found","reason":"no exchange 'none' in vhost '/'"}`},
		{`POST /api/bindings/%2F/e/e1/q/none {}`, 404, `{"error":"not_found","reason":"no queue 'none' in vhost '/'"}`},
		{`POST /api/bindings/%2F/e/amq.default/q/q {}`, 401, "Access refused."},
		{"GET /api/bindings/%2F/e/e1/q/q", 200, `[{"source":"e1","vhost":"/","destination":"q","destination_type":"queue","routing_key":"","arguments":{},"properties_key":"~"},{"source":"e1",`},
		{"GET /api/bindings/%2F/e/e1/e/e2", 200, `"destination_type":"exchange","routing_key":"a/b c~d","arguments":{},"properties_key":"a%2Fb+c%7Ed"}]`},
		{"GET /api/bindings/%2F/e/e1/e/e2/a%252Fb%2Bc%257Ed", 200, `"routing_key":"a/b c~d"`},
		{"GET /api/bindings/%2F/e/amq.default/q/q/q", 200, `{"source":"","vhost":"/","destination":"q","destination_type":"queue","routing_key":"q","arguments":{},"properties_key":"q"}`},
		{"GET /api/bindings/%2F/e/e1/q/q/~", 200, `"routing_key":""`},
		{"GET /api/bindings/%2F/e/e1/q/q/none", 404, "Not Found"},
		{"GET /api/bindings/%2F?columns=source,destination", 200, `[{"destination":"q","source":""},{"destination":"e2","source":"e1"},{"destination":"q","source":"e1"}`},
		{"GET /api/bindings?columns=properties_key", 200, `{"properties_key":"k~`},
		{"GET /api/queues/%2F/q/bindings?columns=source", 200, `[{"source":""},{"source":"e1"},{"source":"e1"},{"source":"e1"}]`},
		{"GET /api/exchanges/%2F/e2/bindings/destination?columns=source", 200, `[{"source":"e1"}]`},
		{"GET /api/exchanges/%2F/e1/bindings/source?columns=destination", 200, `[{"destination":"e2"},{"destination":"q"},{"destination":"q"},{"destination":"q"}]`},
		{"GET /api/exchanges/%2F/amq.default/bindings/source?columns=destination", 200, `[{"destination":"q"}]`},
		{"DELETE /api/exchanges/%2F/e1?if-unused=true", 400, `"reason":"exchange 'e1' in vhost '/' in use"`},
		{"DELETE /api/bindings/%2F/e/e1/q/q/k", 204, ""},
		{"DELETE /api/bindings/%2F/e/e1/q/q/k", 404, "Not Found"},
		{"GET /api/bindings/%2F/e/e1/q/q?columns=routing_key", 200, `[{"routing_key":""},{"routing_key":"k"}]`},
	})
	w := httptest.NewRecorder()
	a.ServeHTTP(w, httptest.NewRequest("POST", "/api/bindings/%2F/e/e1/e/e2", strings.NewReader(`{"routing_key":"a/b c~d"}`)))
	if got := w.Header().Get("Location"); got != "e2/a%252Fb%2Bc%257Ed" {
		t.Errorf("a binding is said to be at %q", got)
	}
}

func TestParametersAndNode(t *testing.T) {
	b, a := openAPI(t)
	if err := b.SetParameter(catalog.Parameter{VHost: "/", Component: "mbus", Name: "secret", Value: json.RawMessage("1")}); err != nil {
		t.Fatal(err)
	}
	const good = `{"value":{"src-uri":"amqp://","src-queue":"a","dest-uri":"amqp://","dest-queue":"b"}}`
	resttest.Play(t, a, []resttest.Step{
		{`PUT /api/parameters/none/%2F/x {"value":{}}`, 400, `"reason":"Validation failed\n\ncomponent none not found\n"`},
		{`PUT /api/parameters/mbus/%2F/x {"value":{}}`, 400, "component mbus not found"},
		{`PUT /api/parameters/shovel/%2F/x {}`, 400, "key_missing,value"},
		{`PUT /api/parameters/shovel/%2F/x {"value":{}}`, 400, `Must specify 'src-exchange' or 'src-queue'\nKey \"dest-uri\" not found in x\nKey \"src-uri\" not found in x\n`},
		{`PUT /api/parameters/shovel/%2F/x {"value":{"src-queue":"a","src-exchange":"b","dest-queue":"c","dest-exchange":"d","dest-uri":"","src-uri":""}}`, 400, `Cannot specify 'src-exchange' and 'src-queue'\nCannot specify 'dest-exchange' and 'dest-queue'\n`},
		{`PUT /api/parameters/shovel/%2F/x ` + good, 201, ""},
		{`PUT /api/parameters/shovel/%2F/x ` + good, 204, ""},
		{`PUT /api/parameters/federation-upstream/%2F/up {"value":{"uri":"amqp://x","prefetch-count":10}}`, 201, ""},
		{`PUT /api/parameters/federation-upstream/%2F/up2 {"value":{"urx":"amqp://x"}}`, 400, `Unrecognised terms urx in up2\nKey \"uri\" not found in up2\n`},
		{`PUT /api/parameters/federation-upstream-set/%2F/set {"value":[{"upstream":"up"}]}`, 201, ""},
		{`PUT /api/parameters/federation-upstream-set/%2F/set {"value":{}}`, 400, "should be a list"},
		{"GET /api/parameters/shovel/%2F/x", 200, `{"value":{"src-uri":"amqp://","src-queue":"a","dest-uri":"amqp://","dest-queue":"b"},"vhost":"/","component":"shovel","name":"x"}`},
		{"GET /api/parameters?columns=component", 200, `[{"component":"federation-upstream"},{"component":"federation-upstream-set"},{"component":"shovel"}]`},
		{"GET /api/parameters/mbus/%2F/secret", 404, "Not Found"},
		{"GET /api/parameters/mbus", 200, "[]"},
		{"DELETE /api/parameters/mbus/%2F/secret", 404, "Not Found"},
		{"GET /api/parameters/shovel/none", 404, "no such virtual host"},
		{"GET /api/shovels/%2F", 200, `[]`}, // no manager runs it here
		{"GET /api/shovels/vhost/%2F/x", 200, `[]`},
		{"GET /api/shovels/vhost/%2F/y", 404, "Not Found"},
		{"DELETE /api/shovels/vhost/%2F/x/restart", 404, "Not Found"},
		{"DELETE /api/shovels/vhost/%2F/x", 204, ""},
		{"DELETE /api/shovels/vhost/%2F/x", 404, "Not Found"},
		{`PUT /api/parameters/shovel/%2F/x ` + good, 201, ""},
		{"DELETE /api/parameters/shovel/%2F/x", 204, ""},
		{"DELETE /api/parameters/shovel/%2F/x", 404, "Not Found"},
		{"GET /api/federation-links", 200, "[]"},

		{"GET /api/cluster-name", 200, `{"name":"fiveways@here"}`},
		{"PUT /api/cluster-name {}", 400, "key_missing,name"},
		{`PUT /api/cluster-name {"name":"mine"}`, 204, ""},
		{"GET /api/cluster-name", 200, `{"name":"mine"}`},
		{`PUT /api/global-parameters/x {"value":{"a":[1,"b"]}}`, 201, ""},
		{`PUT /api/global-parameters/x {"value":1}`, 204, ""},
		{`PUT /api/global-parameters/y {}`, 400, "key_missing,value"},
		{"GET /api/global-parameters", 200, `[{"name":"cluster_name","value":"mine"},{"name":"x","value":1}]`},
		{"GET /api/global-parameters/x", 200, `{"name":"x","value":1}`},
		{"DELETE /api/global-parameters/x", 204, ""},
		{"DELETE /api/global-parameters/x", 404, "Not Found"},
		{"GET /api/global-parameters/x", 404, "Not Found"},

		{"GET /api/aliveness-test/%2F", 200, `{"status":"ok"}`},
		{"GET /api/aliveness-test/none", 404, "Object Not Found"},
		{"GET /api/feature-flags", 200, `"name":"quorum_queue","desc":`},
		{"PUT /api/feature-flags/quorum_queue/enable", 204, ""},
		{"PUT /api/feature-flags/none/enable", 400, "unsupported"},
		{"GET /api/deprecated-features", 200, "[]"},
		{"GET /api/extensions", 200, "[]"},
	})
}

// An argument without a value is shown as RabbitMQ shows it.
func TestArgumentsWithoutValue(t *testing.T) {
	b, a := openAPI(t)
	s, err := b.Operate("/")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	args := message.Table{{Name: "n"}, {Name: "l", Value: message.Array{nil, true}}}
	if _, err := s.DeclareQueue(catalog.QueueSpec{Name: "q", Policy: catalog.DefaultQueuePolicy(), Args: args}); err != nil {
		t.Fatal(err)
	}
	resttest.Play(t, a, []resttest.Step{
		{"GET /api/queues/%2F/q?columns=arguments", 200, `{"arguments":{"l":["undefined",true],"n":"undefined"}}`},
	})
}

// Queues of several virtual hosts are sorted by the rates shown for them. Queues without any
// activity come last.
func TestSortByRate(t *testing.T) {
	engine, m, a := openSampled(t)
	if _, err := engine.PutVHost(catalog.VHostSpec{Name: "other"}); err != nil {
		t.Fatal(err)
	}
	push := func(vhost, queue string, messages int) {
		s, err := engine.Operate(vhost)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := s.DeclareQueue(catalog.QueueSpec{Name: queue, Policy: catalog.DefaultQueuePolicy()}); err != nil {
			t.Fatal(err)
		}
		for range messages {
			if err := s.Do(&lists.Push{OnQueue: broker.OnQueue{Queue: queue}, Bodies: [][]byte{[]byte("m")}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	push("/", "a", 100)
	push("other", "unused", 0)
	m.Sample()
	push("/", "a", 1)
	push("/", "z", 20)
	m.Sample()
	push("other", "slow", 10)
	m.Sample()
	push("/", "a", 2)
	push("other", "slow", 5)
	m.Sample()
	const columns = "&columns=name,message_stats.publish_details.rate"
	resttest.Play(t, a, []resttest.Step{
		{"GET /api/queues?sort=message_stats.publish_details.rate" + columns, 200, `[{"message_stats":{"publish_details":{"rate":0}},"name":"z"},` +
			`{"message_stats":{"publish_details":{"rate":0.2}},"name":"a"},{"message_stats":{"publish_details":{"rate":0.5}},"name":"slow"},{"name":"unused"}]`},
		{"GET /api/queues?page=2&page_size=1&sort=message_stats.publish_details.rate&sort_reverse=true&columns=name", 200, `"items":[{"name":"slow"}]`},
		{"GET /api/queues/%2F?page=1&page_size=1&sort=messages_ready_details.rate&sort_reverse=true&columns=name", 200, `"items":[{"name":"a"}]`},
		{"GET /api/queues/other?sort=message_stats.publish_details.rate&columns=name", 200, `[{"name":"slow"},{"name":"unused"}]`},
	})
}

// BenchmarkPageOfQueues: a page of very many queues is fast, because only names are compared and
// only the queues of the page are asked.
func BenchmarkPageOfQueues(b *testing.B) {
	engine, m, a := openSampled(b)
	s, err := engine.Operate("/")
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for i := range 10_000 {
		name := fmt.Sprintf("queue-%05d", i)
		if _, err := s.DeclareQueue(catalog.QueueSpec{Name: name, Policy: catalog.DefaultQueuePolicy()}); err != nil {
			b.Fatal(err)
		}
		if err := s.Do(&lists.Push{OnQueue: broker.OnQueue{Queue: name}, Bodies: [][]byte{[]byte("m")}}); err != nil {
			b.Fatal(err)
		}
	}
	m.Sample()
	m.Sample()
	for name, query := range map[string]string{"names": "", "by messages": "&sort=messages&sort_reverse=true", "by rate": "&sort=message_stats.publish_details.rate"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				w := httptest.NewRecorder()
				a.ServeHTTP(w, httptest.NewRequest("GET", "/api/queues?page=3&page_size=100"+query, nil))
				if w.Code != http.StatusOK {
					b.Fatal(w.Body)
				}
			}
		})
	}
}

// TestMembers: a queue is on all nodes of the cluster, and it is online on those that are up.
func TestMembers(t *testing.T) {
	b := resttest.OpenBroker(t)
	a := rest.New(b, rest.Options{Log: resttest.Quiet})
	Register(a, Options{Node: &rest.Node{Name: "n1", Monitor: monitor.New(b, monitor.Options{}), Clients: protocol.NewClients(), Membership: protocoltest.ThreeNodes()}})
	const nodes = `{"leader":"n1","members":["n1","n2","fiveways-3"],"node":"n1","online":["n1","n2"],"type":"quorum"}`
	resttest.Play(t, a, []resttest.Step{
		{`PUT /api/queues/%2F/q {"durable":true,"arguments":{"x-queue-type":"quorum"}}`, 201, ""},
		{`PUT /api/queues/%2F/c {"durable":true}`, 201, ""},
		{"GET /api/queues/%2F/q?columns=node,leader,members,online,type", 200, nodes},
		{"GET /api/queues?columns=node,leader,members,online,type", 200, `[{"node":"n1","type":"classic"},` + nodes + `]`},
	})
}
