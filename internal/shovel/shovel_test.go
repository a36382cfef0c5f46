package shovel

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/daemon"
)

func TestMain(m *testing.M) { brokertest.Main(m) }

// open returns a channel of a connection that is closed at the end of the test.
func open(t *testing.T, uri string) *amqp.Channel {
	t.Helper()
	c, err := amqp.Dial(uri)
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

// fill publishes n confirmed messages with their numbers as bodies to a new durable queue.
func fill(t *testing.T, uri, queue string, n int) {
	t.Helper()
	ch := open(t, uri)
	if _, err := ch.QueueDeclare(queue, true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	if err := ch.Confirm(false); err != nil {
		t.Fatal(err)
	}
	var last *amqp.DeferredConfirmation
	for i := range n {
		var err error
		last, err = ch.PublishWithDeferredConfirm("", queue, false, false, amqp.Publishing{DeliveryMode: amqp.Persistent, Body: []byte(fmt.Sprint(i))})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n > 0 && !last.Wait() {
		t.Fatal("a message was refused")
	}
}

// bodies gets all messages of a queue. It returns the count of each body and their order.
func bodies(t *testing.T, uri, queue string) (all map[string]int, order []string) {
	t.Helper()
	ch, all := open(t, uri), map[string]int{}
	for {
		d, ok, err := ch.Get(queue, true)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return all, order
		}
		all[string(d.Body)]++
		order = append(order, string(d.Body))
	}
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestDrainsInOrder(t *testing.T) {
	from, to := brokertest.Run(t).URL(), brokertest.Run(t).URL()
	fill(t, from, "a", 2500)
	p, err := Run(within(t), Options{Source: Source{URI: from, Queue: "a"}, Target: Target{URI: to, Queue: "b"}, Once: true, Prefetch: 100})
	if err != nil || p.Moved != 2500 || p.Breaks != 0 {
		t.Fatalf("%+v, %v", p, err)
	}
	got, order := bodies(t, to, "b")
	if len(got) != 2500 || order[0] != "0" || order[2499] != "2499" {
		t.Errorf("%d different messages of %d, from %s", len(got), len(order), order[0])
	}
	if left, _ := bodies(t, from, "a"); len(left) != 0 {
		t.Errorf("%d are left", len(left))
	}
}

func TestLimitLeavesTheRest(t *testing.T) {
	b := brokertest.Run(t).URL()
	fill(t, b, "a", 50)
	p, err := Run(within(t), Options{Source: Source{URI: b, Queue: "a"}, Target: Target{URI: b, Queue: "b"}, Limit: 20})
	if err != nil || p.Moved != 20 {
		t.Fatalf("%+v, %v", p, err)
	}
	moved, _ := bodies(t, b, "b")
	left, _ := bodies(t, b, "a")
	if len(moved) != 20 || len(left) != 30 || left["19"] != 0 || left["20"] != 1 {
		t.Errorf("%d moved, %d left", len(moved), len(left))
	}
}

// All properties arrive unchanged, and so do headers of every type.
func TestKeepsProperties(t *testing.T) {
	b := brokertest.Run(t).URL()
	fill(t, b, "a", 0)
	sent := amqp.Publishing{
		Headers: amqp.Table{
			"bool": true, "byte": byte(200), "int8": int8(-5), "int16": int16(-300), "int32": int32(70000), "int64": int64(1) << 40, "float32": float32(1.5),
			"float64": 2.25, "decimal": amqp.Decimal{Scale: 2, Value: 12345}, "text": "tea", "bytes": []byte{0, 255}, "time": time.Unix(1700000000, 0),
			"list": []any{int32(1), "two", amqp.Table{"x": nil}}, "table": amqp.Table{"deep": amqp.Table{"er": int64(1)}}, "void": nil,
		},
		ContentType: "text/plain", ContentEncoding: "gzip", DeliveryMode: amqp.Persistent, Priority: 7, CorrelationId: "c", ReplyTo: "r", Expiration: "600000",
		MessageId: "m", Timestamp: time.Unix(1700000001, 0), Type: "t", UserId: "guest", AppId: "app", Body: []byte("body"),
	}
	if err := open(t, b).Publish("", "a", false, false, sent); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(within(t), Options{Source: Source{URI: b, Queue: "a"}, Target: Target{URI: b, Queue: "b"}, Limit: 1}); err != nil {
		t.Fatal(err)
	}
	d, ok, err := open(t, b).Get("b", true)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if got := publishing(&d); !reflect.DeepEqual(got, sent) {
		t.Errorf("got  %#v\nsent %#v", got, sent)
	}
}

// Messages that the target cannot route, or rejects, stay at the source. Messages before them are
// moved once.
func TestKeepsWhatTheTargetDoesNotTake(t *testing.T) {
	b := brokertest.Run(t).URL()
	ch := open(t, b)
	for _, q := range []struct {
		name string
		args amqp.Table
	}{{"src", nil}, {"known", nil}, {"full", amqp.Table{"x-max-length": int32(3), "x-overflow": "reject-publish"}}} {
		if _, err := ch.QueueDeclare(q.name, true, false, false, false, q.args); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(ch.ExchangeDeclare("in", "fanout", true, false, false, false, nil), ch.QueueBind("src", "", "in", false, nil),
		ch.ExchangeDeclare("out", "direct", true, false, false, false, nil), ch.QueueBind("known", "known", "out", false, nil), ch.Confirm(false)); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"known", "known", "unknown", "known"} {
		c, err := ch.PublishWithDeferredConfirm("in", key, false, false, amqp.Publishing{Body: []byte(key)})
		if err != nil || !c.Wait() {
			t.Fatal(err)
		}
	}
	p, err := Run(within(t), Options{Source: Source{URI: b, Queue: "src"}, Target: Target{URI: b, Exchange: "out"}, Once: true})
	if !errors.Is(err, ErrUnroutable) || !strings.Contains(err.Error(), "'unknown'") || p.Moved != 2 {
		t.Fatalf("%+v, %v", p, err)
	}
	if _, order := bodies(t, b, "src"); !reflect.DeepEqual(order, []string{"unknown", "known"}) {
		t.Errorf("left %q", order)
	}

	fill(t, b, "more", 5)
	ctx, cancel := context.WithCancel(within(t))
	p, err = Run(ctx, Options{Source: Source{URI: b, Queue: "more"}, Target: Target{URI: b, Queue: "full"}, Once: true, Progress: func(p Progress) {
		if errors.Is(p.Err, ErrRefused) {
			cancel()
		}
	}})
	if err != nil || p.Moved != 3 {
		t.Errorf("%+v, %v", p, err)
	}
	if left, _ := bodies(t, b, "more"); len(left) != 2 {
		t.Errorf("%d are left", len(left))
	}
}

// TestManyReturns moves many messages at once to where none of them has a queue: the first return
// ends the run, and all messages stay.
func TestManyReturns(t *testing.T) {
	b := brokertest.Run(t).URL()
	fill(t, b, "src", 100)
	p, err := Run(within(t), Options{Source: Source{URI: b, Queue: "src"}, Target: Target{URI: b, Exchange: "amq.direct", Key: "nowhere"}, Once: true})
	if !errors.Is(err, ErrUnroutable) || p.Moved != 0 {
		t.Errorf("%+v, %v", p, err)
	}
	if left, _ := bodies(t, b, "src"); len(left) != 100 {
		t.Errorf("%d are left", len(left))
	}
}

func TestFirstConnectionFails(t *testing.T) {
	b := brokertest.Run(t).URL()
	free := "amqp://" + daemon.FreeAddress(t)
	for name, o := range map[string]Options{
		"no source":    {Source: Source{URI: free, Queue: "a"}, Target: Target{URI: b, Queue: "b"}},
		"no target":    {Source: Source{URI: b, Queue: "a"}, Target: Target{URI: free, Queue: "b"}},
		"no queue":     {Source: Source{URI: b, Queue: "none"}, Target: Target{URI: b, Queue: "b"}},
		"no name":      {Source: Source{URI: b, Queue: ""}, Target: Target{URI: b, Queue: "b"}},
		"a wrong user": {Source: Source{URI: strings.Replace(b, "guest:guest", "guest:wrong", 1), Queue: "a"}, Target: Target{URI: b, Queue: "b"}},
	} {
		if _, err := Run(within(t), o); err == nil || strings.Contains(err.Error(), "wrong@") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReturnsEndWithTheChannel: after the channel of the target has closed, no message counts as
// returned.
func TestReturnsEndWithTheChannel(t *testing.T) {
	returned := make(chan amqp.Return)
	close(returned)
	if err := (&run{returned: returned}).markReturned(); !errors.Is(err, amqp.ErrClosed) || errors.Is(err, ErrUnroutable) {
		t.Errorf("%v", err)
	}
}
