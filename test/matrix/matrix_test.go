package matrix

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"fiveways.dev/fiveways/test/brokertest"
)

func TestMain(m *testing.M) { brokertest.Main(m) }

// patience is the timeout of the tests' waits.
const patience = time.Minute

// protocols are all protocols. Each has its own file.
var protocols = []protocol{amqpProtocol, sqlProtocol, jobsProtocol, listsProtocol, etcdProtocol, httpProtocol}

type protocol struct {
	name     string
	typed    bool // headers have types; otherwise they are text
	plain    bool // a body needs no content type
	marks    bool // a message that was returned is marked as such
	blind    bool // the mark cannot be seen
	volatile bool // a message can be transient
	// said reduces a message to what the protocol can send, and shown to what its receivers see.
	// nil means all of it.
	said, shown func(message) message
	// value converts a header's value to what receivers see, and returns false if they do not see
	// it. nil means no conversion.
	value func(v any) (any, bool)
	dial  func(ctx context.Context, b *brokertest.Broker) (endpoint, error)
}

// endpoint is a client of one protocol.
type endpoint interface {
	// declare creates a durable queue in the protocol's own way, with that many priorities. It
	// returns errors.ErrUnsupported if the protocol cannot.
	declare(ctx context.Context, queue string, priorities int) error
	// send sends a message to a queue, and returns when the broker has promised to keep it. It
	// returns errors.ErrUnsupported if the protocol cannot send it.
	send(ctx context.Context, queue string, m message) error
	// take consumes the next message for good. It returns false if none is available now.
	take(ctx context.Context, queue string) (m message, ok bool, err error)
	// giveBack takes the next message and returns it as a message that could not be handled. It
	// returns errors.ErrUnsupported if the protocol cannot.
	giveBack(ctx context.Context, queue string) error
	close()
}

// message is what all protocols have in common.
type message struct {
	id         string // "" lets the broker choose
	again      bool   // marked as returned
	body       []byte
	properties map[string]string // by the name in SQL's headers, such as content_type
	headers    []header
	delayed    time.Duration // not available before; 0: at once
	expires    time.Duration // not available after; 0: never
}

// header is an application header: a value, and its text for protocols whose headers have no types.
// nil is NULL.
type header struct {
	name  string
	value any
	text  *string
}

func text(s string) *string { return &s }

// node is a running broker with a client of each protocol.
type node struct {
	t     *testing.T
	b     *brokertest.Broker
	dir   string
	flags []string // of serve
	ends  map[string]endpoint
}

func start(t *testing.T, flags ...string) *node {
	n := &node{t: t, dir: t.TempDir(), flags: flags}
	n.run()
	return n
}

func (n *node) run() {
	n.t.Helper()
	flags := append([]string{"--sql", "127.0.0.1:0", "--redis", "127.0.0.1:0", "--etcd", "127.0.0.1:0", "--etcd-consumer-limit", "1", "--http", "127.0.0.1:0"}, n.flags...)
	b, err := brokertest.Start(n.t.Context(), n.dir, flags...)
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(b.Kill)
	n.b, n.ends = b, map[string]endpoint{}
	for _, p := range protocols {
		end, err := p.dial(n.t.Context(), b)
		if err != nil {
			n.t.Fatal(err)
		}
		n.t.Cleanup(end.close)
		n.ends[p.name] = end
	}
}

// restart stops the broker and restarts it on its data.
func (n *node) restart() {
	n.t.Helper()
	for _, end := range n.ends {
		end.close()
	}
	if err := n.b.Stop(); err != nil {
		n.t.Fatal(err)
	}
	n.run()
}

// pairs runs a test for every pair of protocols, with a queue created by each protocol that can,
// with this many priorities.
func (n *node) pairs(priorities int, test func(t *testing.T, p pair)) {
	for _, in := range protocols {
		for _, out := range protocols {
			for _, maker := range protocols {
				n.t.Run(fmt.Sprintf("%s to %s over a queue of %s", in.name, out.name, maker.name), func(t *testing.T) {
					p := pair{t, n, in, out, fmt.Sprintf("%s_%s_%s", in.name, out.name, maker.name)}
					err := n.ends[maker.name].declare(t.Context(), p.queue, priorities)
					if errors.Is(err, errors.ErrUnsupported) {
						t.Skip(err)
					}
					p.must(err)
					test(t, p)
				})
			}
		}
	}
}

// pair is a sender, a receiver and a queue between them.
type pair struct {
	t       *testing.T
	n       *node
	in, out protocol
	queue   string
}

func (p pair) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p pair) send(m message) {
	p.t.Helper()
	err := p.n.ends[p.in.name].send(p.t.Context(), p.queue, m)
	if errors.Is(err, errors.ErrUnsupported) {
		p.t.Skip(err)
	}
	p.must(err)
}

// take consumes the next message, which must exist.
func (p pair) take() message {
	p.t.Helper()
	m, ok, err := p.n.ends[p.out.name].take(p.t.Context(), p.queue)
	p.must(err)
	if !ok {
		p.t.Fatal("nothing came")
	}
	return m
}

// none fails if a message is available.
func (p pair) none() {
	p.t.Helper()
	if m, ok, err := p.n.ends[p.out.name].take(p.t.Context(), p.queue); ok || err != nil {
		p.t.Fatalf("there is %q %v", m.body, err)
	}
}

// compare checks that the received message is what the receiver must see of the sent one.
func (p pair) compare(got, sent message) {
	p.t.Helper()
	if p.in.said != nil {
		sent = p.in.said(sent)
	}
	if p.out.shown != nil {
		sent = p.out.shown(sent)
	}
	if sent.id != "" && got.id != sent.id {
		p.t.Errorf("id %q, want %q", got.id, sent.id)
	}
	if !bytes.Equal(got.body, sent.body) {
		p.t.Errorf("body of %d bytes %.40q, want %d bytes %.40q", len(got.body), got.body, len(sent.body), sent.body)
	}
	want := maps.Clone(sent.properties)
	if want == nil {
		want = map[string]string{}
	}
	for _, all := range []map[string]string{got.properties, want} {
		if all["delivery_mode"] == "" {
			all["delivery_mode"] = "2" // persistent messages need not say so
		}
	}
	if !maps.Equal(got.properties, want) {
		p.t.Errorf("properties %v, want %v", got.properties, want)
	}
	if a, b := p.seen(got.headers, true), p.seen(sent.headers, p.in.typed); !reflect.DeepEqual(a, b) {
		p.t.Errorf("headers %v, want %v", a, b)
	}
}

// seen returns what the receiver sees of headers. typed says whether the values keep their types on
// the way.
func (p pair) seen(headers []header, typed bool) map[string]any {
	all := map[string]any{}
	for _, h := range headers {
		var v any
		switch {
		case typed && (p.out.typed || p.out.value != nil):
			v = h.value
		case h.text != nil:
			v = *h.text
		}
		if p.out.value == nil {
			all[h.name] = v
		} else if v, ok := p.out.value(v); ok {
			all[h.name] = v
		}
	}
	return all
}

// names returns the names of the cases, sorted.
func names(cases map[string]message) []string { return slices.Sorted(maps.Keys(cases)) }

// kept reports whether a header is one in which a protocol stores its own data about a message.
func kept(name string) bool {
	switch name {
	case "mbus", "consume_after": // SQL
		return true
	case "x-first-enqueued": // jobs
		return true
	}
	return false
}
