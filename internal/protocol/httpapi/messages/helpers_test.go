package messages

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
	"fiveways.dev/fiveways/internal/protocol/httpapi/resttest"
)

// node is a broker with the paths of this package, for a caller with all permissions.
type node struct {
	t *testing.T
	b *broker.Broker
	h http.Handler
	s *broker.Session // a session as of another protocol
}

func start(t *testing.T) *node {
	t.Helper()
	return serve(t, resttest.OpenBroker(t))
}

// serve serves the paths on a broker.
func serve(t *testing.T, b *broker.Broker) *node {
	t.Helper()
	a := rest.New(b, rest.Options{Log: resttest.Quiet})
	Register(a)
	s, err := b.Operate("/")
	must(t, err)
	return &node{t, b, a, s}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// queue declares a durable queue.
func (n *node) queue(name string, more ...func(*catalog.QueueSpec)) {
	n.t.Helper()
	resttest.Declare(n.t, n.s, name, more...)
}

// deadTo makes a queue send its dead letters to another queue.
func deadTo(queue string) func(*catalog.QueueSpec) {
	return func(s *catalog.QueueSpec) {
		s.Policy.DeadLetter, s.Policy.HasDeadLetterKey, s.Policy.DeadLetterKey = true, true, queue
	}
}

// put publishes a message to a queue, as another protocol would.
func (n *node) put(queue, id, body string, headers ...message.Field) {
	n.t.Helper()
	p := message.Properties{
		Flags: message.HasHeaders | message.HasDeliveryMode | message.HasMessageID, Headers: headers, DeliveryMode: message.Persistent, MessageID: id,
	}
	env := append(message.AppendEnvelopeHeader(nil, "", queue, p.Append(nil)), body...)
	post := broker.Post{OnQueue: broker.OnQueue{Queue: queue}, Env: env, Persistent: true, TTL: -1}
	must(n.t, n.s.Do(&post))
	must(n.t, post.Err)
}

// bodies returns the bodies of the ready messages in a queue, in order.
func (n *node) bodies(queue string) (all []string) {
	n.t.Helper()
	b, err := inspect.Browse(n.s, queue)
	must(n.t, err)
	for {
		page, err := b.Next(100)
		must(n.t, err)
		if len(page) == 0 {
			return all
		}
		for i := range page {
			if page[i].Status.String() == "ready" {
				all = append(all, string(page[i].Env.Body()))
			}
		}
	}
}

// request returns the answer to a request written as "PUT /api/x {...}".
func (n *node) request(text string) (status int, body string) {
	n.t.Helper()
	return resttest.Request(n.t, n.h, text)
}

func (n *node) play(script []resttest.Step) {
	n.t.Helper()
	resttest.Play(n.t, n.h, script)
}

// ask sends a request and decodes its answer.
func ask[T any](n *node, text string) (out T) {
	n.t.Helper()
	status, body := n.request(text)
	if status >= http.StatusBadRequest {
		n.t.Fatalf("%s: %d %s", text, status, body)
	}
	if err := json.Unmarshal([]byte(body), &out); err != nil {
		n.t.Fatalf("%s: %v: %s", text, err, body)
	}
	return out
}

// same compares lists.
func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("got %q, want %q", got, want)
	}
}
