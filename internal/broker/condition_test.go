package broker

import (
	"bytes"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/routing"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// holds is a condition for tests: the body contains the text.
type holds string

func (c holds) Match(m *routing.Message) bool { return bytes.Contains(m.Body, []byte(c)) }

// understanding gives a broker a language for x-sql-selector in which "bad" is an error.
func understanding(bad string) func(*Options) {
	return func(o *Options) {
		o.Conditions = routing.Conditions{"x-sql-selector": func(text string) (routing.Condition, error) {
			if text == bad {
				return nil, errors.New("it is bad")
			}
			return holds(text), nil
		}}
	}
}

func holding(text string) message.Table { return message.Table{{Name: "x-sql-selector", Value: text}} }

// show publishes a message whose body conditions can read.
func (c *client) show(exchange, body string, headers ...message.Field) {
	c.t.Helper()
	props := message.Properties{Flags: message.HasDeliveryMode, DeliveryMode: 2}
	if len(headers) > 0 {
		props.Flags |= message.HasHeaders
		props.Headers = headers
	}
	raw := props.Append(nil)
	peek, err := message.PeekProperties(raw)
	must(c.t, err)
	peek.Body = []byte(body)
	targets, err := c.Route([]byte(exchange), nil, &peek, nil)
	must(c.t, err)
	c.seq++
	seq, parts := c.seq, targets.Parts()
	env := append(message.AppendEnvelopeHeader(nil, exchange, "", raw), body...)
	c.Publish(&shard.Publish{Targets: targets, Env: env, Persistent: true, TTL: -1, Confirm: c, Seq: seq})
	c.Flush()
	c.until(func() bool { return c.acks[seq] >= parts })
}

// Whatever a message's path to an exchange, the conditions there can read its body.
func TestConditionsOnEveryPath(t *testing.T) {
	clock := newClock(1_000_000)
	b := openBroker(t, vfs.NewMem(), func(o *Options) {
		understanding("bad")(o)
		o.Now = clock.Now
	})
	c := newClient(t, b)
	for _, x := range []ExchangeSpec{
		{Name: "x", Type: "fanout"},
		{Name: "y", Type: "fanout"},
		{Name: "late", Type: "x-delayed-message", Durable: true, Args: message.Table{{Name: "x-delayed-type", Value: "fanout"}}},
		{Name: "once", Type: "fanout", Buffer: QueuePolicy{Deduplicate: true, DedupHeader: "key", DedupEntries: 10, DedupTTL: -1}},
		{Name: "history", Type: "x-recent-history"},
	} {
		must(t, c.DeclareExchange(x))
	}
	c.queue("dying", func(s *QueueSpec) { s.Policy.DeadLetter, s.Policy.DeadLetterExchange = true, "x" })
	c.queue("sure", func(s *QueueSpec) {
		s.Policy.DeadLetter, s.Policy.DeadLetterExchange, s.Policy.AtLeastOnce, s.Policy.Overflow = true, "x", true, RejectPublish
	})
	c.queue("q", nil)
	for _, source := range []string{"x", "y", "late", "once"} {
		must(t, c.Bind(BindSpec{Source: source, Destination: "q", Args: holding("a")}))
	}
	must(t, c.Bind(BindSpec{Source: "amq.fanout", Destination: "y", ToExchange: true, Args: holding("b")}))
	expect := func(want ...string) {
		t.Helper()
		for range 3 {
			settleDead(t, c, b)
		}
		sameStrings(t, c.drain("q"), want...)
	}
	for _, body := range []string{"a", "b", "ab", ""} {
		c.show("x", body)
	}
	expect("a", "ab")
	for _, body := range []string{"a", "b", "ab"} {
		c.show("amq.fanout", body)
	}
	expect("ab")
	for _, source := range []string{"dying", "sure"} {
		for _, body := range []string{"a", "b"} { // in the other order b, which has no route, would come first
			c.put("", source, body, nil)
			d := c.gets(source, 1)[0]
			c.Reject(d.Queue, nil, d.Handle, 1)
		}
		c.Flush()
		expect("a")
	}
	for _, body := range []string{"a now", "b now"} {
		c.show("late", body)
	}
	for _, body := range []string{"a soon", "b soon"} {
		c.show("late", body, message.Field{Name: "x-delay", Value: int32(100)})
	}
	expect("a now")
	clock.ms.Add(1000)
	expect("a soon")
	for _, body := range []string{"a once", "b once", "a twice"} {
		c.show("once", body, message.Field{Name: "key", Value: body[:1]})
	}
	expect("a once")
	for _, body := range []string{"a old", "b old"} {
		c.show("history", body)
	}
	must(t, c.Bind(BindSpec{Source: "history", Destination: "q", Args: holding("a")}))
	expect("a old")
	c.Close()
	mustClose(t, b)
}

// Conditions are compiled again at a start. If one no longer compiles, the log names it, and its
// binding stays but matches nothing.
func TestConditionsAfterAStart(t *testing.T) {
	fs := vfs.NewMem()
	b := openBroker(t, fs, understanding(""))
	c := newClient(t, b)
	for _, q := range []string{"q1", "q2"} {
		c.queue(q, nil)
	}
	must(t, c.Bind(BindSpec{Source: "amq.fanout", Destination: "q1", Args: holding("a")}))
	must(t, c.Bind(BindSpec{Source: "amq.fanout", Destination: "q2", Args: holding("bad")}))
	err := c.Bind(BindSpec{Source: "amq.fanout", Destination: "q2", Args: holding("")})
	var e *Error
	if !errors.As(err, &e) || e.Err != ErrInvalidBinding || e.Detail != "invalid arg 'x-sql-selector' for binding: it is bad" {
		t.Errorf("bind: %v", err)
	}
	hash, err := b.Hash()
	must(t, err)
	for _, k := range []struct {
		name   string
		change func(*Options)
		broken int
		want   [2]string
	}{
		{"as before", understanding(""), 0, [2]string{"a bad", "a bad"}},
		{"one broken", understanding("bad"), 1, [2]string{"a bad", ""}},
		{"no compiler", func(*Options) {}, 2, [2]string{"", ""}},
		{"all is well again", understanding(""), 0, [2]string{"a bad", "a bad"}},
	} {
		fs = fs.CrashClone(rand.New(rand.NewPCG(1, 1)))
		var out bytes.Buffer
		again := openBroker(t, fs, func(o *Options) {
			k.change(o)
			o.Logger = slog.New(slog.NewTextHandler(&out, nil))
		})
		if n := strings.Count(out.String(), "condition of a binding"); n != k.broken {
			t.Errorf("%s: %d are reported", k.name, n)
		}
		if got, _ := again.Hash(); got != hash {
			t.Errorf("%s: another hash", k.name)
		}
		c := newClient(t, again)
		c.show("amq.fanout", "a bad")
		for i, q := range []string{"q1", "q2"} {
			if got := strings.Join(c.drain(q), " "); got != k.want[i] {
				t.Errorf("%s: %s got %q", k.name, q, got)
			}
		}
		c.Close()
		mustClose(t, again)
	}
	mustClose(t, b)
}
