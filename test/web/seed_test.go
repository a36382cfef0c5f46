package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/brokertest"
)

// everything is the flags of a broker with all protocols, and statistics that are sampled often
// enough for a test.
var everything = []string{"--http", "127.0.0.1:0", "--redis", "127.0.0.1:0", "--etcd", "127.0.0.1:0", "--sql", "127.0.0.1:0", "--stats-interval", "250ms"}

// shop is a broker with some objects of every kind, like that of a shop.
type shop struct {
	t  testing.TB
	at string // base of its URLs
	*brokertest.Broker
}

// openShop starts the shop's broker, with more flags if any are given, and fills it.
func openShop(t testing.TB, more ...string) *shop {
	t.Helper()
	b := brokertest.Run(t, append(slices.Clip(everything), more...)...)
	s := &shop{t, "http://" + b.HTTPAddr(), b}
	for _, r := range stock {
		s.api(r.method, r.path, r.body)
	}
	for i := range 12 {
		s.publish("shop", fmt.Sprintf("order.%s", []string{"no", "se", "dk"}[i%3]), map[string]any{"amount": 250 * i, "country": []string{"NO", "SE", "DK"}[i%3]},
			fmt.Sprintf(`{"order": %d, "lines": [{"article": "espresso", "cups": %d}], "note": "by hand"}`, 10000+i, i+1))
	}
	return s
}

// stock is what the shop has besides messages and clients.
var stock = []struct{ method, path, body string }{
	{"PUT", "vhosts/staging", `{"description": "what is tried before it is real"}`},
	{"PUT", "exchanges/%2F/shop", `{"type": "topic", "durable": true}`},
	{"PUT", "exchanges/%2F/shop.audit", `{"type": "fanout", "durable": true}`},
	{"PUT", "exchanges/%2F/shop.dead", `{"type": "fanout", "durable": true}`},
	{"PUT", "queues/%2F/orders", `{"durable": true, "arguments": {"x-dead-letter-exchange": "shop.dead", "x-max-length": 100000, "x-delivery-limit": 5}}`},
	{"PUT", "queues/%2F/orders.dead", `{"durable": true}`},
	{"PUT", "queues/%2F/invoices", `{"durable": true, "arguments": {"x-max-priority": 9}}`},
	{"PUT", "queues/%2F/audit", `{"durable": true, "arguments": {"x-message-ttl": 86400000}}`},
	{"PUT", "queues/%2F/newsletter-with-a-name-that-is-longer-than-a-telephone-is-wide", `{"durable": false}`},
	{"POST", "bindings/%2F/e/shop/q/orders", `{"routing_key": "order.*"}`},
	{"POST", "bindings/%2F/e/shop/q/invoices", `{"routing_key": "order.no"}`},
	{"POST", "bindings/%2F/e/shop/e/shop.audit", `{"routing_key": "#"}`},
	{"POST", "bindings/%2F/e/shop.audit/q/audit", `{}`},
	{"POST", "bindings/%2F/e/shop.dead/q/orders.dead", `{"durable": true}`},
	{"POST", "jobs/%2F/mails", `{"id": "welcome-ann", "payload": "{\"to\": \"ann@shop.example\"}"}`},
	{"POST", "jobs/%2F/mails", `{"id": "welcome-bob", "payload": "{\"to\": \"bob@shop.example\"}", "backoff": "1h"}`},
	{"PUT", "semaphores/%2F/crawlers", `{"active": 2, "try_release": 1}`},
	{"PUT", "semaphores/%2F/crawlers/tasks/cat", `{"priority": 1}`},
	{"PUT", "semaphores/%2F/crawlers/tasks/dog", `{"priority": 2}`},
	{"PUT", "semaphores/%2F/crawlers/tasks/owl", `{"priority": 9}`},
	{"PUT", "keys/config%2Fshop", `{"value": "{\"open\": true, \"currency\": \"NOK\"}"}`},
	{"PUT", "keys/config%2Flimits", `{"value": "100"}`},
	{"PUT", "policies/%2F/bounded", `{"pattern": "^(invoices|audit)$", "apply-to": "queues", "definition": {"max-length": 50000, "overflow": "reject-publish"}}`},
	{"PUT", "operator-policies/%2F/house-rules", `{"pattern": ".*", "apply-to": "queues", "definition": {"message-ttl": 604800000}}`},
	{"PUT", "users/ann", `{"password": "secret-of-ann", "tags": "monitoring"}`},
	{"PUT", "permissions/%2F/ann", `{"configure": "^ann\\.", "write": ".*", "read": ".*"}`},
}

// api sends a request to the HTTP API as guest. The path is below /api/. A refusal ends the test.
func (s *shop) api(method, path, body string) []byte {
	s.t.Helper()
	r, err := http.NewRequest(method, s.at+"/api/"+path, bytes.NewBufferString(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.SetBasicAuth("guest", "guest")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= 300 {
		s.t.Fatalf("%s %s: %d %s %v", method, path, answer.StatusCode, text, err)
	}
	return text
}

// get decodes the answer of the HTTP API at a path.
func (s *shop) get(path string, to any) {
	s.t.Helper()
	if err := json.Unmarshal(s.api("GET", path, ""), to); err != nil {
		s.t.Fatalf("%s: %v", path, err)
	}
}

// publish sends a message to an exchange.
func (s *shop) publish(exchange, key string, headers map[string]any, payload string) {
	s.t.Helper()
	body, err := json.Marshal(map[string]any{
		"routing_key": key, "payload": payload, "payload_encoding": "string",
		"properties": map[string]any{"delivery_mode": 2, "content_type": "application/json", "headers": headers},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.api("POST", "exchanges/%2F/"+exchange+"/publish", string(body))
}

// client opens an AMQP connection with a name.
func (s *shop) client(name string) *amqp.Channel {
	s.t.Helper()
	properties := amqp.NewConnectionProperties()
	properties.SetClientConnectionName(name)
	c, err := amqp.DialConfig(s.URL(), amqp.Config{Properties: properties})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	ch, err := c.Channel()
	if err != nil {
		s.t.Fatal(err)
	}
	return ch
}

// trade publishes to the queue audit, a hundred messages a second, and consumes from it until the
// test ends, so that there are rates to show.
func (s *shop) trade() {
	s.t.Helper()
	seller, buyer := s.client("till-1"), s.client("auditor")
	deliveries, err := buyer.Consume("audit", "auditor", false, false, false, false, nil)
	if err == nil {
		err = buyer.Qos(20, 0, false)
	}
	if err == nil {
		err = seller.Confirm(false)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	go func() {
		for d := range deliveries {
			d.Ack(false) //nolint:errcheck // the test is over
		}
	}()
	ctx, cancel := context.WithCancel(context.Background())
	s.t.Cleanup(cancel)
	go func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for range tick.C {
			confirmed, err := seller.PublishWithDeferredConfirm("shop", "visit", false, false, amqp.Publishing{DeliveryMode: amqp.Persistent, Body: []byte("a visit")})
			if err != nil || !wait(ctx, confirmed) {
				return
			}
		}
	}()
}

func wait(ctx context.Context, confirmed *amqp.DeferredConfirmation) bool {
	ok, err := confirmed.WaitContext(ctx)
	return ok && err == nil
}
