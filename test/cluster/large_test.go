package cluster

import (
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/redis/go-redis/v9"

	"fiveways.dev/fiveways/test/clustertest"
)

// TestLargeEntries moves messages that need large entries of the log: dead letters beside the
// publishes that cause them, transactions, and lists. No node stops, and all have the same state.
func TestLargeEntries(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t, "--redis", "127.0.0.1:0")
	at := c.Leader()
	ch := dial(t, c, at)
	declare := func(name string, args amqp.Table) {
		_, err := ch.QueueDeclare(name, true, false, false, false, args)
		must(t, err)
	}
	declare("dead", nil)
	declare("last", amqp.Table{"x-max-length": 1, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"})
	declare("some", amqp.Table{"x-max-length": 2, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"})
	large := strings.Repeat("x", 33<<20)
	for range 2 {
		if !publishTo(t, ch, "last", large) {
			t.Fatal("a large message is not confirmed")
		}
	}
	for range 2 {
		if !publishTo(t, ch, "some", large) {
			t.Fatal("a large message is not confirmed")
		}
	}
	conn, err := amqp.Dial(c.Nodes[at].URL())
	must(t, err)
	defer conn.Close()
	tx, err := conn.Channel()
	must(t, err)
	must(t, tx.Tx())
	for range 2 { // the heads of the queue become dead letters
		must(t, tx.PublishWithContext(t.Context(), "", "some", false, false, amqp.Publishing{DeliveryMode: 2, Body: []byte("y")}))
	}
	must(t, tx.TxCommit())

	list := redis.NewClient(&redis.Options{Addr: c.Nodes[at].RedisAddr(), MaxRetries: -1, ReadTimeout: clustertest.Patience})
	defer list.Close()
	if n, err := list.RPush(t.Context(), "list", large, large).Result(); err != nil || n != 2 {
		t.Errorf("pushed: %d, %v", n, err)
	}
	_, err = list.TxPipelined(t.Context(), func(p redis.Pipeliner) error {
		p.RPush(t.Context(), "list", large)
		p.RPush(t.Context(), "list", large)
		return nil
	})
	if err != nil {
		t.Errorf("pushed in a transaction: %v", err)
	}
	for name, want := range map[string]int{"dead": 1 + 2, "last": 1, "some": 2, "list": 4} {
		q, err := ch.QueueDeclarePassive(name, true, false, false, false, nil)
		must(t, err)
		if q.Messages != want {
			t.Errorf("queue %s has %d messages, want %d", name, q.Messages, want)
		}
	}
	if c.Leader() != at {
		t.Error("another node leads")
	}
}
