package matrix

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/redis/go-redis/v9"
)

// TestStream checks that what any protocol publishes to a declared stream can be read over AMQP and
// Redis, in the same order, repeatedly and after a restart. Lists and jobs are refused. A message
// that another protocol consumes is gone for all readers, and its offset with it.
func TestStream(t *testing.T) {
	const name = "stream"
	n := start(t)
	c := dialAMQP091(t, n)
	ch, err := c.Channel()
	must(t, err)
	if _, err := ch.QueueDeclare(name, true, false, false, false, amqp.Table{"x-queue-type": "stream"}); err != nil {
		t.Fatal(err)
	}
	r := dialRedis(n.b)
	t.Cleanup(func() { r.Close() })
	if kind := r.Type(t.Context(), name).Val(); kind != "stream" {
		t.Errorf("TYPE says %s", kind)
	}
	var want []string
	for _, p := range protocols {
		err := n.ends[p.name].send(t.Context(), name, message{body: []byte(p.name), properties: textType})
		if p.name == "jobs" || p.name == "lists" {
			if err == nil || !strings.HasPrefix(err.Error(), "WRONGTYPE") {
				t.Errorf("%s: %v", p.name, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", p.name, err)
		}
		want = append(want, fmt.Sprint(len(want), " ", p.name))
	}
	must(t, r.XAdd(t.Context(), &redis.XAddArgs{Stream: name, Values: []string{"body", "redis"}}).Err())
	want = append(want, fmt.Sprint(len(want), " redis"))
	for range 2 {
		same(t, "AMQP", readStream(t, n, name, len(want)), want)
	}
	r.Close()
	c.Close()
	n.restart()
	r = dialRedis(n.b)
	same(t, "AMQP after a restart", readStream(t, n, name, len(want)), want)
	same(t, "XRANGE", rangeStream(t, r, name), want)
	for _, taker := range []string{"sql", "etcd"} {
		m, ok, err := n.ends[taker].take(t.Context(), name)
		if err != nil || !ok {
			t.Fatalf("%s takes nothing: %v", taker, err)
		}
		want = slices.DeleteFunc(want, func(s string) bool { return strings.HasSuffix(s, " "+string(m.body)) })
		same(t, "AMQP behind "+taker, readStream(t, n, name, len(want)), want)
	}
	if have := r.XLen(t.Context(), name).Val(); int(have) != len(want) {
		t.Errorf("XLEN is %d, want %d", have, len(want))
	}
}

func dialAMQP091(t *testing.T, n *node) *amqp.Connection {
	t.Helper()
	c, err := amqp.Dial(n.b.URL())
	must(t, err)
	t.Cleanup(func() { c.Close() }) //nolint:errcheck // it may be closed already
	return c
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s: got %q, want %q", what, got, want)
	}
}

// readStream reads a stream over AMQP from the first message on, and returns offsets and bodies.
func readStream(t *testing.T, n *node, name string, want int) (got []string) {
	t.Helper()
	c := dialAMQP091(t, n)
	defer c.Close()
	ch, err := c.Channel()
	must(t, err)
	must(t, ch.Qos(2, 0, false))
	ds, err := ch.Consume(name, "", false, false, false, false, amqp.Table{"x-stream-offset": "first"})
	must(t, err)
	for len(got) < want {
		d, ok := <-ds
		if !ok {
			t.Fatal("the reader has ended")
		}
		got = append(got, fmt.Sprintf("%v %s", d.Headers["x-stream-offset"], d.Body))
		must(t, d.Ack(false))
	}
	return got
}

// rangeStream returns the entries of XRANGE by number.
func rangeStream(t *testing.T, r *redis.Client, name string) (got []string) {
	t.Helper()
	for i, e := range r.XRange(t.Context(), name, "-", "+").Val() {
		got = append(got, fmt.Sprintf("%d %v", i, e.Values["body"]))
	}
	return got
}
