package deadletter

import (
	"fmt"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/core/message"
)

// TestDeathsWithoutACount checks that x-death entries without a count stand for one death each and
// are merged, as in RabbitMQ.
func TestDeathsWithoutACount(t *testing.T) {
	entry := func(queue, reason string, count ...any) message.Table {
		e := message.Table{{Name: "queue", Value: queue}, {Name: "reason", Value: reason}}
		for _, n := range count {
			e = append(e, message.Field{Name: "count", Value: n})
		}
		return e
	}
	one, other := entry("q", "expired"), entry("q", "rejected")
	for name, c := range map[string]struct {
		old  message.Array
		want string
	}{
		"none":                  {nil, ""},
		"no count":              {message.Array{one}, "q expired 2"},
		"a count":               {message.Array{entry("q", "expired", int64(5))}, "q expired 6"},
		"no number":             {message.Array{entry("q", "expired", "many")}, "q expired 1"},
		"another reason":        {message.Array{other}, "q rejected 1"},
		"several":               {message.Array{other, one, one, other, one}, "q expired 4, q rejected 2"},
		"a count, and one less": {message.Array{entry("q", "expired", int64(5)), one}, "q expired 6"},
		"what is no table":      {message.Array{"x", one}, "q expired 2, x"},
	} {
		deaths, _ := countDeath(message.Table{{Name: "x-death", Value: c.old}}, "q", "expired")
		var got []string
		for _, e := range deaths {
			if d, ok := e.(message.Table); ok {
				queue, _ := d.Get("queue")
				reason, _ := d.Get("reason")
				count, _ := d.Get("count")
				e = fmt.Sprint(queue, " ", reason, " ", count)
			}
			got = append(got, fmt.Sprint(e))
		}
		if all := strings.Join(got, ", "); all != c.want {
			t.Errorf("%s: %q, want %q", name, all, c.want)
		}
	}
}

// died returns a message without properties that died in queues, each time for a reason.
func died(t *testing.T, path ...string) Message {
	t.Helper()
	env := message.Envelope(append(message.AppendEnvelopeHeader(nil, "in", "k", (&message.Properties{}).Append(nil)), "body"...))
	var m Message
	for _, at := range path {
		queue, reason, _ := strings.Cut(at, " ")
		var err error
		if m, err = Rewrite(env, From{Queue: queue, Exchange: "dlx"}, Reason(reason), 1_000_000); err != nil {
			t.Fatal(err)
		}
		env = m.Env
	}
	return m
}

// TestCycles checks that a message that returns to a queue where it died counts as a cycle, unless
// a consumer rejected it on the way.
func TestCycles(t *testing.T) {
	for _, c := range []struct {
		path []string
		to   string
		want bool
	}{
		{[]string{"a expired"}, "a", true},
		{[]string{"a expired"}, "b", false},
		{[]string{"a expired", "b expired"}, "a", true},
		{[]string{"a rejected"}, "a", false},
		{[]string{"a rejected", "b expired"}, "a", false},
		{[]string{"a expired", "b rejected", "c maxlen"}, "c", true},
		{[]string{"a expired", "b rejected", "c maxlen"}, "a", false},
	} {
		if m := died(t, c.path...); m.Cycles(c.to) != c.want {
			t.Errorf("%q to %s: %v", c.path, c.to, !c.want)
		}
	}
}

// TestRewrite checks that the headers say where a message died first and last, and how it was
// routed then.
func TestRewrite(t *testing.T) {
	props := message.Properties{
		Flags: message.HasExpiration | message.HasHeaders | message.HasDeliveryMode | message.HasPriority, Expiration: "5000", DeliveryMode: 2, Priority: 3,
		Headers: message.Table{{Name: "CC", Value: message.Array{"k2"}}, {Name: "x-first-death-reason", Value: "forged"}},
	}
	env := message.Envelope(append(message.AppendEnvelopeHeader(nil, "in", "k", props.Append(nil)), "body"...))
	m, err := Rewrite(env, From{Queue: "q", Exchange: "dlx"}, Expired, 1_234_567)
	if err != nil {
		t.Fatal(err)
	}
	got, err := message.DecodeProperties(m.Env.Properties())
	if err != nil {
		t.Fatal(err)
	}
	want := "[{CC [k2]} {x-first-death-reason expired} {x-death [[{count 1} {reason expired} {queue q} {time 1234} {exchange in} " +
		"{routing-keys [k k2]} {original-expiration 5000}]]} {x-first-death-queue q} {x-first-death-exchange in} " +
		"{x-last-death-reason expired} {x-last-death-queue q} {x-last-death-exchange in}]"
	if s := fmt.Sprint(got.Headers); s != want {
		t.Errorf("headers\n%s, want\n%s", s, want)
	}
	if got.Has(message.HasExpiration) || m.TTL() != -1 || !m.Peek.Persistent() || m.Peek.Priority != 3 {
		t.Errorf("properties %+v", got)
	}
	if r := m.Routed(); string(r.Key) != "k" || len(r.Also) != 1 || string(m.Env.Exchange()) != "dlx" || string(m.Env.Body()) != "body" {
		t.Errorf("to %s by %s and %q: %q", m.Env.Exchange(), r.Key, r.Also, m.Env.Body())
	}
	m, err = Rewrite(env, From{Queue: "q", Exchange: "dlx", Key: "dead", HasKey: true}, Expired, 0)
	if r := m.Routed(); err != nil || string(r.Key) != "dead" || !m.OneKey() {
		t.Errorf("with a key of the queue: %v, %s and %q", err, r.Key, r.Also)
	}
	if _, err := Rewrite(append(message.AppendEnvelopeHeader(nil, "", "", []byte{0xff}), 'x'), From{}, Expired, 0); err == nil {
		t.Error("broken properties were taken")
	}
}

// TestDue pins the times that stand for reasons, because they are in the log.
func TestDue(t *testing.T) {
	for i, r := range []Reason{Rejected, Expired, MaxLength, DeliveryLimit} {
		if r.Due() != int64(1)<<62+int64(i) {
			t.Errorf("%s is %d", r, r.Due())
		}
		if back, ok := ReasonOf(r.Due()); !ok || back != r {
			t.Errorf("%d is %s", r.Due(), back)
		}
	}
	for _, due := range []int64{0, 1 << 61, 1<<62 - 1, 1<<62 + 4} {
		if r, ok := ReasonOf(due); ok {
			t.Errorf("%d is %s", due, r)
		}
	}
}
