package migrate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/daemon"
	"fiveways.dev/fiveways/test/rabbitmq"
)

func TestMain(m *testing.M) { brokertest.Main(m) }

// rabbit is a RabbitMQ node with its management plugin.
type rabbit struct {
	*daemon.Server
	kit        *rabbitmq.Kit
	amqp, http string // addresses
}

func (r *rabbit) Close() {
	r.Server.Close()
	r.kit.Close()
}

func openRabbit() (*rabbit, error) {
	kit, err := rabbitmq.Open()
	if err != nil {
		return nil, err
	}
	r := &rabbit{kit: kit}
	r.Server, err = daemon.Serve("fiveways-migrate-", func(dir string) (*exec.Cmd, error) {
		port, err := daemon.FreePort()
		if err != nil {
			return nil, err
		}
		management, err := daemon.FreePort()
		if err != nil {
			return nil, err
		}
		r.amqp, r.http = fmt.Sprintf("127.0.0.1:%d", port), fmt.Sprintf("127.0.0.1:%d", management)
		dir = filepath.Join(dir, "node") // the folder has the log of the process
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		cmd, err := kit.Command(dir, port, "rabbitmq_management")
		if err != nil {
			return nil, err
		}
		conf, err := os.OpenFile(filepath.Join(dir, "rabbitmq.conf"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		_, err = fmt.Fprintf(conf, "management.tcp.ip = 127.0.0.1\nmanagement.tcp.port = %d\n", management)
		return cmd, errors.Join(err, conf.Close())
	}, func() error {
		_, err := ask(r.http, http.MethodGet, "/api/overview", "")
		if err != nil {
			return err
		}
		c, err := amqp.Dial("amqp://" + r.amqp)
		if err != nil {
			return err
		}
		return c.Close()
	})
	if err != nil {
		kit.Close()
		return nil, err
	}
	return r, nil
}

// ask sends a request to an HTTP API as guest.
func ask(addr, method, path, body string) ([]byte, error) {
	r, err := http.NewRequest(method, "http://"+addr+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.SetBasicAuth("guest", "guest")
	r.Header.Set("Content-Type", "application/json")
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer w.Body.Close()
	answer, err := io.ReadAll(w.Body)
	if err == nil && w.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %s %s", method, path, w.Status, answer)
	}
	return answer, err
}

// topology is what the RabbitMQ of the test has besides its messages.
var topology = []struct{ path, body string }{
	{"vhosts/shop", `{}`},
	{"permissions/shop/guest", `{"configure":".*","write":".*","read":".*"}`},
	{"users/ann", `{"password":"secret","tags":"management"}`},
	{"permissions/shop/ann", `{"configure":"^a","write":".*","read":".*"}`},
	{"topic-permissions/shop/ann", `{"exchange":"events","write":"^order","read":".*"}`},
	{"vhost-limits/shop/max-queues", `{"value":50}`},
	{"user-limits/ann/max-channels", `{"value":20}`},
	{"operator-policies/shop/bound", `{"pattern":".*","definition":{"max-length":50000},"apply-to":"queues"}`},
	{"policies/shop/cap", `{"pattern":"^plain","definition":{"max-length":100000},"apply-to":"queues","priority":3}`},
	{"exchanges/shop/events", `{"type":"topic","durable":true}`},
	{"queues/shop/plain", `{"durable":true}`},
	{"queues/shop/dead", `{"durable":true}`},
	{"queues/shop/limited", `{"durable":true,"arguments":{"x-dead-letter-exchange":"","x-dead-letter-routing-key":"dead","x-message-ttl":86400000,"x-max-priority":5}}`},
	{"queues/shop/replicated", `{"durable":true,"arguments":{"x-queue-type":"quorum"}}`},
	{"queues/%2F/root", `{"durable":true}`},
}

const each = 2500 // messages in each of the four queues

func fillRabbit(t *testing.T, r *rabbit) {
	t.Helper()
	for _, d := range topology {
		if _, err := ask(r.http, http.MethodPut, "/api/"+d.path, d.body); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ask(r.http, http.MethodPost, "/api/bindings/shop/e/events/q/plain", `{"routing_key":"order.#"}`); err != nil {
		t.Fatal(err)
	}
	publish(t, r.amqp, "shop", "events", "order.new", "plain")
	publish(t, r.amqp, "shop", "", "limited", "limited")
	publish(t, r.amqp, "shop", "", "replicated", "replicated")
	publish(t, r.amqp, "/", "", "root", "root")
}

func channel(t *testing.T, addr, user, password, vhost string) *amqp.Channel {
	t.Helper()
	c, err := amqp.DialConfig("amqp://"+user+":"+password+"@"+addr, amqp.Config{Vhost: vhost})
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

func headers(i int) amqp.Table {
	return amqp.Table{"n": int64(i), "list": []any{int32(1), "two", true}, "at": time.Unix(1700000000, 0), "table": amqp.Table{"f": 1.5}}
}

func publish(t *testing.T, addr, vhost, exchange, key, text string) {
	t.Helper()
	ch := channel(t, addr, "guest", "guest", vhost)
	if err := ch.Confirm(false); err != nil {
		t.Fatal(err)
	}
	var last *amqp.DeferredConfirmation
	for i := range each {
		var err error
		last, err = ch.PublishWithDeferredConfirm(exchange, key, true, false, amqp.Publishing{
			DeliveryMode: amqp.Persistent, Headers: headers(i), UserId: "guest", MessageId: fmt.Sprint(i), Body: fmt.Appendf(nil, "%s %d", text, i),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if !last.Wait() {
		t.Fatal("refused")
	}
}

// TestMigrateRabbitMQ checks that the contents of a RabbitMQ are in the broker afterwards, messages
// in order with all their properties, and are gone from the RabbitMQ, and that its users can log
// in.
func TestMigrateRabbitMQ(t *testing.T) {
	r := daemon.ForTest(t, openRabbit, rabbitmq.ErrNone)
	b := brokertest.Run(t, "--http", "127.0.0.1:0")
	fillRabbit(t, r)
	migrate := func(args ...string) report {
		t.Helper()
		cmd := exec.Command(brokertest.Binary(t), append([]string{"migrate", "rabbitmq", "--from", "amqp://guest@" + r.amqp, "--management", "http://guest@" + r.http,
			"--to", "amqp://" + b.Addr(), "--url", "http://guest@" + b.HTTPAddr(), "-o", "json"}, args...)...)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %s%s", err, &stdout, &stderr)
		}
		var found report
		if err := json.Unmarshal(stdout.Bytes(), &found); err != nil {
			t.Fatalf("%v in %s", err, &stdout)
		}
		return found
	}
	if dry := migrate("--dry-run"); dry.Moved != 0 || len(dry.Queues) != 5 || dry.Definitions["policies"] != 1 || dry.Definitions["vhosts"] != 2 {
		t.Errorf("a dry run: %+v", dry)
	}
	if done := migrate(); done.Moved != 4*each || done.Failed != 0 {
		t.Fatalf("%+v", done)
	}
	for _, q := range []struct{ vhost, name, key string }{{"shop", "plain", "order.new"}, {"shop", "limited", "limited"}, {"shop", "replicated", "replicated"}, {"/", "root", "root"}} {
		checkMoved(t, b.Addr(), q.vhost, q.name, q.key)
		if left, err := channel(t, r.amqp, "guest", "guest", q.vhost).QueueDeclarePassive(q.name, true, false, false, false, nil); err != nil || left.Messages != 0 {
			t.Errorf("%s at the source: %d messages, %v", q.name, left.Messages, err)
		}
	}
	// Definitions were migrated too: a binding, a user with its password and permissions, a policy.
	ann := channel(t, b.Addr(), "ann", "secret", "shop")
	if err := ann.Publish("events", "order.late", true, false, amqp.Publishing{Body: []byte("late")}); err != nil {
		t.Fatal(err)
	}
	if _, err := ann.QueueDeclare("b", true, false, false, false, nil); err == nil {
		t.Error("ann may declare what she may not")
	}
	late := channel(t, b.Addr(), "guest", "guest", "shop")
	if q, err := late.QueueDeclarePassive("plain", true, false, false, false, nil); err != nil || q.Messages != 1 {
		t.Errorf("%+v, %v", q, err)
	}
	for path, want := range map[string]string{
		"policies/shop/cap":                 `"max-length":100000`,
		"operator-policies/shop/bound":      `"max-length":50000`,
		"queues/shop/plain?disable_stats=t": `"policy":"cap"`,
		"queues/shop/plain":                 `"effective_policy_definition":{"max-length":50000}`,
		"queues/shop/limited":               `"operator_policy":"bound"`,
		"vhost-limits/shop":                 `"max-queues":50`,
		"user-limits/ann":                   `"max-channels":20`,
		"topic-permissions/shop/ann":        `"write":"^order"`,
		"bindings/shop/e/events/q/plain":    `"routing_key":"order.#"`,
	} {
		if got, err := ask(b.HTTPAddr(), http.MethodGet, "/api/"+path, ""); err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s: %v, %s; want %s", path, err, got, want)
		}
	}
	if again := migrate(); again.Moved != 0 || again.Failed != 0 {
		t.Errorf("again: %+v", again)
	}
}

// report is the output of the command.
type report struct {
	Definitions map[string]int
	Queues      []struct{ VHost, Name, Skipped, Error string }
	Moved       uint64
	Failed      int
}

func checkMoved(t *testing.T, addr, vhost, queue, key string) {
	t.Helper()
	ch := channel(t, addr, "guest", "guest", vhost)
	for i := range each {
		d, ok, err := ch.Get(queue, true)
		if err != nil || !ok {
			t.Fatalf("%s: message %d: %v, %v", queue, i, ok, err)
		}
		delete(d.Headers, "x-delivery-count") // quorum queues add it to deliveries
		if string(d.Body) != fmt.Sprintf("%s %d", queue, i) || d.RoutingKey != key || d.MessageId != fmt.Sprint(i) || d.UserId != "guest" || d.DeliveryMode != amqp.Persistent ||
			!reflect.DeepEqual(d.Headers, headers(i)) {
			t.Fatalf("%s: message %d is %+v", queue, i, d)
		}
	}
}
