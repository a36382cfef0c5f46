package server

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/internal/config"
)

// policyNode is a broker with an AMQP channel.
type policyNode struct {
	*Server
	ch *amqp.Channel
}

func startPolicyNode(t *testing.T, dir string) *policyNode {
	t.Helper()
	cfg := config.Default()
	cfg.Data, cfg.AMQP, cfg.HTTP = dir, "127.0.0.1:0", "127.0.0.1:0"
	cfg.SQL, cfg.Redis, cfg.Etcd, cfg.Metrics = config.Off, config.Off, config.Off, config.Off
	s, err := Start(cfg, "test", slog.New(slog.DiscardHandler))
	must(t, err)
	t.Cleanup(func() { drainPolicyNode(t, s) })
	c, err := amqp.Dial("amqp://guest:guest@" + s.Addrs()["amqp"])
	must(t, err)
	ch, err := c.Channel()
	if err == nil {
		err = ch.Confirm(false)
	}
	must(t, err)
	return &policyNode{s, ch}
}

func drainPolicyNode(t *testing.T, s *Server) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.Drain(ctx); err != nil {
		t.Error(err)
	}
}

// call sets or deletes something through the HTTP API.
func (n *policyNode) call(t *testing.T, method, path, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+n.Addrs()["http"]+"/api/"+path, strings.NewReader(body))
	must(t, err)
	r.SetBasicAuth("guest", "guest")
	w, err := http.DefaultClient.Do(r)
	must(t, err)
	w.Body.Close()
	if w.StatusCode >= http.StatusBadRequest {
		t.Fatalf("%s %s: %s", method, path, w.Status)
	}
}

// put publishes messages to a queue and returns when they are confirmed.
func (n *policyNode) put(t *testing.T, queue string, bodies ...string) {
	t.Helper()
	for _, body := range bodies {
		c, err := n.ch.PublishWithDeferredConfirm("", queue, false, false, amqp.Publishing{Body: []byte(body), DeliveryMode: amqp.Persistent})
		if err != nil || !c.Wait() {
			t.Fatalf("%s is not confirmed: %v", body, err)
		}
	}
}

// takeAll gets all messages of a queue.
func takeAll(t *testing.T, ch *amqp.Channel, queue string) (bodies []string) {
	t.Helper()
	for {
		d, ok, err := ch.Get(queue, true)
		must(t, err)
		if !ok {
			return bodies
		}
		bodies = append(bodies, string(d.Body))
	}
}

// A policy changes the behavior of a queue in use, also across a restart. Without the policy the
// queue is as declared.
func TestPoliciesOverAMQP(t *testing.T) {
	dir := t.TempDir()
	n := startPolicyNode(t, dir)
	for _, queue := range []string{"q", "dead"} {
		if _, err := n.ch.QueueDeclare(queue, true, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
	}
	put := func(definition string) {
		t.Helper()
		n.call(t, "PUT", "policies/%2F/p", fmt.Sprintf(`{"pattern":"^(?!amq\\.)q$","definition":%s,"apply-to":"queues"}`, definition))
	}
	holds := func(what, queue string, want ...string) {
		t.Helper()
		if got := takeAll(t, n.ch, queue); !slices.Equal(got, want) {
			t.Errorf("%s: %s holds %q, want %q", what, queue, got, want)
		}
	}

	n.put(t, "q", "a", "b", "c")
	put(`{"max-length":2}`)
	holds("max-length, of what is there", "q", "b", "c")
	n.put(t, "q", "d", "e", "f")
	holds("max-length, of what comes", "q", "e", "f")

	put(`{"message-ttl":0,"dead-letter-exchange":"","dead-letter-routing-key":"dead"}`)
	n.put(t, "q", "g")
	dead, err := n.ch.Consume("dead", "", true, false, false, false, nil)
	must(t, err)
	if d := <-dead; string(d.Body) != "g" {
		t.Errorf("the dead letter is %q", d.Body)
	}

	put(`{"max-length":2}`)
	n.call(t, "PUT", "operator-policies/%2F/o", `{"pattern":"q","definition":{"max-length":1}}`)
	drainPolicyNode(t, n.Server)
	n = startPolicyNode(t, dir)
	n.put(t, "q", "h", "i")
	holds("after a restart", "q", "i")

	n.call(t, "DELETE", "operator-policies/%2F/o", "")
	n.put(t, "q", "j", "k", "l")
	holds("without the operator's", "q", "k", "l")
	n.call(t, "DELETE", "policies/%2F/p", "")
	n.put(t, "q", "m", "n", "o")
	holds("without policies", "q", "m", "n", "o")
	holds("at last", "dead")
}
