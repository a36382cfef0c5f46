package migrate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/brokertest"
)

func TestMain(m *testing.M) { brokertest.Main(m) }

// overHTTP returns the API of a broker, as guest.
func overHTTP(addr string) API {
	return func(ctx context.Context, method, path string, in, out any) error {
		body, err := json.Marshal(in)
		if err != nil {
			return err
		}
		r, err := http.NewRequestWithContext(ctx, method, "http://"+addr+path, bytes.NewReader(body))
		if err != nil {
			return err
		}
		r.SetBasicAuth("guest", "guest")
		w, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		defer w.Body.Close()
		answer, err := io.ReadAll(w.Body)
		if err == nil && w.StatusCode >= 300 {
			err = fmt.Errorf("%s %s: %s %s", method, path, w.Status, answer)
		}
		if err == nil && out != nil {
			err = json.Unmarshal(answer, out)
		}
		return err
	}
}

// channel returns a channel of guest in a virtual host.
func channel(t *testing.T, b *brokertest.Broker, vhost string) *amqp.Channel {
	t.Helper()
	c, err := amqp.DialConfig("amqp://guest:guest@"+b.Addr(), amqp.Config{Vhost: vhost})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	ch, err := c.Channel()
	if err != nil {
		t.Fatal(err)
	}
	return ch
}

// pair is a source with messages in two virtual hosts, and a target where an import creates the
// queues of definitions.
type pair struct {
	from, to *brokertest.Broker
	options  Options
}

const definitions = `{"rabbit_version":"3.10.8","users":[{"name":"ann","password_hash":"6TV8hNWVJu/05Q9ZQ4RnFN1y7TqYwyz3c9jz4Lg="},{"name":"cert"}],"vhosts":[{"name":"/"},{"name":"shop"}],"queues":[
	{"vhost":"/","name":"a"},{"vhost":"shop","name":"a"},{"vhost":"shop","name":"gone"},{"vhost":"/","name":"log","arguments":{"x-queue-type":"stream"}}]}`

func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{from: brokertest.Run(t, "--http", "127.0.0.1:0"), to: brokertest.Run(t, "--http", "127.0.0.1:0")}
	source, target := overHTTP(p.from.HTTPAddr()), overHTTP(p.to.HTTPAddr())
	all := map[string]string{"configure": ".*", "write": ".*", "read": ".*"}
	for _, api := range []API{source, target} {
		if err := errors.Join(api(t.Context(), "PUT", "/api/vhosts/shop", struct{}{}, nil), api(t.Context(), "PUT", "/api/permissions/shop/guest", all, nil)); err != nil {
			t.Fatal(err)
		}
	}
	for _, vhost := range []string{"/", "shop"} {
		ch := channel(t, p.from, vhost)
		declare(t, ch, "a")
		if err := errors.Join(ch.ExchangeDeclare("x", "topic", true, false, false, false, nil), ch.QueueBind("a", "#", "x", false, nil)); err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			if err := ch.Publish("x", fmt.Sprintf("key.%d", i), false, false, amqp.Publishing{DeliveryMode: amqp.Persistent, UserId: "guest", Body: []byte(vhost)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	listed := `[{"vhost":"/","name":"a","messages":100},{"vhost":"shop","name":"a","messages":100},{"vhost":"shop","name":"gone","messages":5},
		{"vhost":"/","name":"log","type":"stream","messages":7},{"vhost":"/","name":"mine","exclusive":true}]`
	p.options = Options{
		SourceURI: p.from.URL(), TargetURI: "amqp://" + p.to.Addr(),
		Source: func(_ context.Context, method, path string, _, out any) error {
			if method != http.MethodGet {
				t.Errorf("%s %s at the source", method, path)
			}
			if strings.HasPrefix(path, "/api/definitions") {
				return json.Unmarshal([]byte(definitions), out)
			}
			return json.Unmarshal([]byte(listed), out)
		},
		Target: func(ctx context.Context, method, path string, in, out any) error {
			if path != "/api/definitions" {
				return target(ctx, method, path, in, out)
			}
			for _, vhost := range []string{"/", "shop"} {
				declare(t, channel(t, p.to, vhost), "a")
			}
			return nil
		},
	}
	return p
}

func declare(t *testing.T, ch *amqp.Channel, queue string) {
	t.Helper()
	if _, err := ch.QueueDeclare(queue, true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
}

func (p *pair) run(t *testing.T) Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := Run(ctx, p.options)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *Report) queue(t *testing.T, vhost, name string) Queue {
	t.Helper()
	for _, q := range r.Queues {
		if q.VHost == vhost && q.Name == name {
			return q
		}
	}
	t.Fatalf("no queue %s in %s in %+v", name, vhost, r)
	return Queue{}
}

func TestMovesAllVirtualHosts(t *testing.T) {
	p := newPair(t)
	r := p.run(t)
	if r.Moved != 200 || r.Failed != 1 || r.Definitions["queues"] != 4 || r.Definitions["users"] != 2 {
		t.Errorf("%+v", r)
	}
	if q := r.queue(t, "shop", "gone"); q.Error == "" || strings.Contains(q.Error, "guest:guest") {
		t.Errorf("%+v", q)
	}
	if a, b := r.queue(t, "/", "log"), r.queue(t, "/", "mine"); a.Skipped == "" || b.Skipped == "" {
		t.Errorf("%+v, %+v", a, b)
	}
	for _, vhost := range []string{"/", "shop"} {
		ch := channel(t, p.to, vhost)
		for i := range 100 {
			d, ok, err := ch.Get("a", true)
			if err != nil || !ok || string(d.Body) != vhost || d.RoutingKey != fmt.Sprintf("key.%d", i) || d.UserId != "guest" {
				t.Fatalf("%s: message %d: %v, %v, %+v", vhost, i, ok, err, d)
			}
		}
		if _, ok, err := ch.Get("a", true); ok || err != nil {
			t.Errorf("%s: %v, %v", vhost, ok, err)
		}
	}
	// The temporary objects have been deleted.
	var users []struct{ Name string }
	if err := overHTTP(p.to.HTTPAddr())(t.Context(), "GET", "/api/users", nil, &users); err != nil || len(users) != 1 {
		t.Errorf("%v, %v", users, err)
	}
	b := bridge{exchange: mover + ".ca978112ca1bbdca"}
	if err := channel(t, p.to, "/").ExchangeDeclarePassive(b.exchange, "fanout", true, false, false, false, nil); err == nil {
		t.Error("the exchange is still there")
	}
	// A second run has nothing to move.
	if again := p.run(t); again.Moved != 0 {
		t.Errorf("%+v", again)
	}
}

func TestChoice(t *testing.T) {
	p := newPair(t)
	p.options.DryRun = true
	if r := p.run(t); len(r.Queues) != 5 || r.Moved != 0 || r.queue(t, "/", "a").Messages != 100 {
		t.Errorf("a dry run: %+v", r)
	}
	p.options.DryRun, p.options.Queues = false, regexp.MustCompile("^a$")
	p.options.Source, p.options.Definitions = nil, json.RawMessage(definitions)
	if r := p.run(t); len(r.Queues) != 2 || r.Moved != 200 || r.Failed != 0 || !slices.Equal(r.Passwords, []string{"ann"}) {
		t.Errorf("queues of a file: %+v", r)
	}
	p.options.Definitions = json.RawMessage("[")
	if _, err := Run(t.Context(), p.options); err == nil {
		t.Error("definitions that are no JSON are taken")
	}
}
