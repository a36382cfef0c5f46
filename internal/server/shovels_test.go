package server

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/internal/config"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/logtest"
	"fiveways.dev/fiveways/internal/shovel/dynamic"
	"fiveways.dev/fiveways/test/daemon"
)

const shovelPatience = 20 * time.Second

// shovelNode is a broker without listeners of protocols. Its shovels can reach it.
type shovelNode struct {
	t *testing.T
	*Server
	log logtest.Text
}

func startShovelNode(t *testing.T, dir string) *shovelNode {
	t.Helper()
	n := &shovelNode{t: t}
	cfg := config.Default()
	cfg.Data, cfg.DiskFreeLimit = dir, 0
	cfg.AMQP, cfg.SQL, cfg.Redis, cfg.Etcd, cfg.HTTP, cfg.Metrics = config.Off, config.Off, config.Off, config.Off, config.Off, config.Off
	s, err := Start(cfg, "test", slog.New(slog.NewTextHandler(&n.log, nil)))
	must(t, err)
	n.Server = s
	t.Cleanup(n.stopNode)
	return n
}

func (n *shovelNode) stopNode() {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), shovelPatience)
	defer cancel()
	if err := n.Drain(ctx); err != nil {
		n.t.Error(err)
	}
}

func (n *shovelNode) channel(vhost string) *amqp.Channel {
	n.t.Helper()
	c, err := amqp.DialConfig("amqp://", amqp.Config{Vhost: vhost, SASL: []amqp.Authentication{&amqp.PlainAuth{}}, Dial: func(string, string) (net.Conn, error) {
		return n.lead.shovels.pipes.Dial(n.t.Context())
	}})
	if err != nil {
		n.t.Fatal(err)
	}
	ch, err := c.Channel()
	if err != nil {
		n.t.Fatal(err)
	}
	return ch
}

// publish declares a queue and publishes messages to it. It returns when they are in the queue.
func (n *shovelNode) publish(ch *amqp.Channel, queue string, bodies ...string) {
	n.t.Helper()
	if _, err := ch.QueueDeclare(queue, true, false, false, false, nil); err != nil {
		n.t.Fatal(err)
	}
	if err := ch.Confirm(false); err != nil {
		n.t.Fatal(err)
	}
	for _, body := range bodies {
		c, err := ch.PublishWithDeferredConfirm("", queue, false, false, amqp.Publishing{Body: []byte(body), DeliveryMode: amqp.Persistent, UserId: "someone"})
		if err != nil || !c.Wait() {
			n.t.Fatal(err)
		}
	}
}

func (n *shovelNode) set(name, value string) {
	n.t.Helper()
	if wrong := dynamic.Check(name, json.RawMessage(value), dynamic.Access{}); len(wrong) > 0 {
		n.t.Fatal(wrong)
	}
	if err := n.Broker().SetParameter(catalog.Parameter{VHost: "/", Component: dynamic.Component, Name: name, Value: json.RawMessage(value)}); err != nil {
		n.t.Fatal(err)
	}
}

// until waits until a condition holds that others bring about.
func (n *shovelNode) until(what string, holds func() bool) {
	n.t.Helper()
	for late := time.Now().Add(shovelPatience); !holds(); runtime.Gosched() {
		if time.Now().After(late) {
			n.t.Fatalf("%s: not so: %+v", what, n.lead.shovels.manager.List())
		}
	}
}

func (n *shovelNode) consume(ch *amqp.Channel, queue string) func(want string) amqp.Delivery {
	n.t.Helper()
	if _, err := ch.QueueDeclare(queue, true, false, false, false, nil); err != nil {
		n.t.Fatal(err)
	}
	deliveries, err := ch.Consume(queue, "", true, false, false, false, nil)
	if err != nil {
		n.t.Fatal(err)
	}
	return func(want string) amqp.Delivery {
		n.t.Helper()
		select {
		case d := <-deliveries:
			if string(d.Body) != want {
				n.t.Fatalf("%s: %q, want %q", queue, d.Body, want)
			}
			return d
		case <-time.After(shovelPatience):
			n.t.Fatalf("%s: no %q comes", queue, want)
		}
		return amqp.Delivery{}
	}
}

// A shovel that moves the current length of its queue does so in order, and is then deleted with
// its parameter.
func TestShovelOfAQueueLength(t *testing.T) {
	n := startShovelNode(t, t.TempDir())
	if _, err := n.Broker().PutVHost(catalog.VHostSpec{Name: "far"}); err != nil {
		t.Fatal(err)
	}
	near, far := n.channel("/"), n.channel("far")
	n.publish(near, "a", "1", "2", "3")
	n.set("s", `{"src-uri":"amqp://","src-queue":"a","dest-uri":["amqp:///far"],"dest-queue":"b","src-delete-after":"queue-length","add-forward-headers":true,
		"add-timestamp-header":true,"dest-publish-properties":{"app_id":"shovel","priority":3}}`)
	get := n.consume(far, "b")
	d := get("1")
	get("2")
	get("3")
	n.until("the shovel is gone", func() bool {
		_, kept := n.Broker().Parameter("/", dynamic.Component, "s")
		return !kept && len(n.lead.shovels.manager.List()) == 0
	})
	if d.AppId != "shovel" || d.Priority != 3 || d.UserId != "someone" || d.DeliveryMode != amqp.Persistent {
		t.Errorf("properties %+v", d)
	}
	passages, _ := d.Headers["x-shovelled"].([]any)
	if _, ok := d.Headers["x-shovelled-timestamp"].(int64); !ok || len(passages) != 1 {
		t.Fatalf("headers %v", d.Headers)
	}
	want := amqp.Table{"shovelled-by": "fiveways", "shovel-type": "dynamic", "shovel-name": "s", "shovel-vhost": "/", "src-uri": "amqp://",
		"dest-uri": "amqp:///far", "src-queue": "a", "dest-queue": "b"}
	if got := fmt.Sprint(passages[0]); got != fmt.Sprint(want) {
		t.Errorf("x-shovelled %s, want %s", got, fmt.Sprint(want))
	}
	n.set("none", `{"src-uri":"amqp://","src-queue":"a","dest-uri":"amqp://","dest-queue":"b","delete-after":0}`)
	n.until("a shovel of nothing is gone", func() bool { return len(n.Broker().Parameters("/", dynamic.Component)) == 0 })
}

// A shovel runs until it is changed or deleted, also after a restart, and when its virtual host is
// deleted and created again.
func TestShovelThatStays(t *testing.T) {
	dir := t.TempDir()
	n := startShovelNode(t, dir)
	n.set("s", `{"src-uri":"amqp://","src-queue":"a","dest-uri":"amqp://","dest-queue":"b"}`)
	ch := n.channel("/")
	n.publish(ch, "a", "1")
	n.consume(ch, "b")("1")
	n.until("it is counted", func() bool { all := n.lead.shovels.manager.List(); return len(all) == 1 && all[0].Moved == 1 })
	s := n.lead.shovels.manager.List()[0]
	if s.State != dynamic.Running || s.Source != "amqp://" || s.Target != "amqp://" || s.Ends["src-queue"] != "a" || s.Ends["dest-queue"] != "b" {
		t.Errorf("%+v", s)
	}
	n.stopNode()

	n = startShovelNode(t, dir)
	ch = n.channel("/")
	fromB := n.consume(ch, "b")
	n.publish(ch, "a", "2")
	fromB("2")
	var get func(want string) amqp.Delivery
	for _, to := range []struct{ queue, mode string }{{"c", "no-ack"}, {"d", "on-publish"}} {
		get = n.consume(ch, to.queue)
		n.set("s", fmt.Sprintf(`{"src-uri":"amqp://","src-queue":"a","dest-uri":"amqp://","dest-exchange":"","dest-exchange-key":%q,"ack-mode":%q}`, to.queue, to.mode))
		n.until("the new one runs", func() bool {
			all := n.lead.shovels.manager.List()
			return len(all) == 1 && all[0].Ends["dest-exchange-key"] == to.queue
		})
		n.publish(ch, "a", to.mode)
		get(to.mode)
	}
	if !n.lead.shovels.manager.Restart("/", "s") || n.lead.shovels.manager.Restart("/", "other") {
		t.Error("restart")
	}
	n.publish(ch, "a", "4")
	get("4")
	must(t, n.Broker().DeleteParameter("/", dynamic.Component, "s"))
	n.until("it ends", func() bool { return len(n.lead.shovels.manager.List()) == 0 })
	if _, err := ch.Consume("a", "", true, true, false, false, nil); err != nil { // an exclusive consumer
		t.Error(err)
	}
}

// A shovel from an exchange gets the messages that arrive while it runs. It is deleted with its
// virtual host.
func TestShovelOfAnExchange(t *testing.T) {
	n := startShovelNode(t, t.TempDir())
	if _, err := n.Broker().PutVHost(catalog.VHostSpec{Name: "v"}); err != nil {
		t.Fatal(err)
	}
	p := catalog.Parameter{VHost: "v", Component: dynamic.Component, Name: "s",
		Value: json.RawMessage(`{"src-uri":"amqp:///v","src-exchange":"amq.topic","src-exchange-key":"x.#","dest-uri":"amqp://","dest-queue":"b","ack-mode":"on-publish"}`)}
	must(t, n.Broker().SetParameter(p))
	n.until("it runs", func() bool {
		all := n.lead.shovels.manager.List()
		return len(all) == 1 && all[0].State == dynamic.Running
	})
	ch := n.channel("v")
	for _, key := range []string{"x.y", "y.x", "x"} {
		must(t, ch.Publish("amq.topic", key, false, false, amqp.Publishing{Body: []byte(key)}))
	}
	get := n.consume(n.channel("/"), "b")
	get("x.y")
	get("x")
	must(t, n.Broker().DeleteVHost("v"))
	n.until("it is gone", func() bool { return len(n.lead.shovels.manager.List()) == 0 })
}

// Failures are reported, without secrets.
func TestShovelThatFails(t *testing.T) {
	n := startShovelNode(t, t.TempDir())
	nobody := daemon.FreeAddress(t)
	n.set("refused", fmt.Sprintf(`{"src-uri":"amqp://me:topsecret@%s/%%2F","src-queue":"a","dest-uri":"amqp://"}`, nobody))
	n.set("once", fmt.Sprintf(`{"src-uri":"amqp://","src-queue":"a","dest-uri":"amqp://me:topsecret@%s","reconnect-delay":0}`, nobody))
	n.set("login", `{"src-uri":"amqp://me:topsecret@","src-queue":"a","dest-uri":"amqp://"}`)
	n.set("other", `{"src-uri":"amqp://","src-protocol":"amqp10","src-address":"a","dest-uri":"amqp://"}`)
	n.set("nowhere", `{"src-uri":"amqp://","src-exchange":"none","dest-uri":"amqp://"}`)
	n.until("all have failed", func() bool {
		for _, s := range n.lead.shovels.manager.List() {
			if s.State != dynamic.Terminated {
				return false
			}
		}
		return len(n.lead.shovels.manager.List()) == 5
	})
	want := map[string]string{"refused": "refused", "once": "refused", "login": "not allowed", "other": "amqp091", "nowhere": "no exchange 'none'"}
	for _, s := range n.lead.shovels.manager.List() {
		if !strings.Contains(s.Reason, want[s.Name]) {
			t.Errorf("%s: %s", s.Name, s.Reason)
		}
	}
	if text := n.log.String() + fmt.Sprint(n.lead.shovels.manager.List()); strings.Contains(text, "topsecret") {
		t.Errorf("a secret is told:\n%s", text)
	}
}
