package messages

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"fiveways/internal/broker"
	"fiveways/internal/core/message"
	"fiveways/internal/protocol/httpapi/rest"
	"fiveways/internal/storage/vfs"
)

// node is a broker and the paths of this package on it, for who may do everything.
type node struct {
	t *testing.T
	b *broker.Broker
	h http.Handler
	s *broker.Session // of somebody beside HTTP
}

func open(t *testing.T, fs vfs.FS) *broker.Broker {
	t.Helper()
	b, err := broker.Open(fs, "data", broker.Options{Logger: slog.New(slog.DiscardHandler), DiskFreeLimit: -1})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func start(t *testing.T) *node {
	t.Helper()
	b := open(t, vfs.NewMem())
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return serve(t, b)
}

// serve serves the paths on a broker.
func serve(t *testing.T, b *broker.Broker) *node {
	t.Helper()
	a := rest.New(b, rest.Options{Log: slog.New(slog.DiscardHandler)})
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
func (n *node) queue(name string, more ...func(*broker.QueueSpec)) {
	n.t.Helper()
	spec := broker.QueueSpec{Name: name, Durable: true, Policy: broker.DefaultQueuePolicy()}
	for _, f := range more {
		f(&spec)
	}
	_, err := n.s.DeclareQueue(spec)
	must(n.t, err)
}

// deadTo has a queue send its dead letters to another.
func deadTo(queue string) func(*broker.QueueSpec) {
	return func(s *broker.QueueSpec) {
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

// bodies are what is ready in a queue, in its order.
func (n *node) bodies(queue string) (all []string) {
	n.t.Helper()
	b, err := n.s.Browse(queue)
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

// request answers a request written as "PUT /api/x {...}".
func (n *node) request(text string) (status int, body string) {
	n.t.Helper()
	method, rest, _ := strings.Cut(text, " ")
	target, in, _ := strings.Cut(rest, " ")
	w := httptest.NewRecorder()
	n.h.ServeHTTP(w, httptest.NewRequest(method, target, strings.NewReader(in)))
	out, err := io.ReadAll(w.Body)
	must(n.t, err)
	if len(out) > 0 && !json.Valid(out) {
		n.t.Errorf("%s: the answer is no JSON: %s", text, out)
	}
	return w.Code, strings.TrimSpace(string(out))
}

// step is one request and what must come of it: the answer holds the text.
type step struct {
	request string
	status  int
	want    string
}

func (n *node) play(steps []step) {
	n.t.Helper()
	for _, s := range steps {
		if status, got := n.request(s.request); status != s.status || !strings.Contains(got, s.want) {
			n.t.Errorf("%s:\n got %d %s\nwant %d with %s", s.request, status, got, s.status, s.want)
		}
	}
}

// ask makes a request and reads its answer.
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
