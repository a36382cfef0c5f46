package matrix

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

var (
	textType   = map[string]string{"content_type": "text/plain"}
	binaryType = map[string]string{"content_type": "application/octet-stream"}
)

// cases are messages that pass unchanged between any two protocols.
var cases = map[string]message{
	"text":         {body: []byte("Hello, wörld\n\"quoted\" => \\ 世界"), properties: textType},
	"empty":        {body: []byte{}, properties: textType},
	"zero bytes":   {body: []byte("a\x00b\x00"), properties: binaryType},
	"no UTF-8":     {body: []byte("\xff\xfe\x80"), properties: binaryType},
	"1 MiB text":   {body: []byte(strings.Repeat("0123456789abcdef", 1<<16)), properties: textType},
	"1 MiB binary": {body: random(1 << 20), properties: binaryType},
	"an hstore":    {body: []byte(`"a"=>"1", "b"=>NULL, "c d"=>"\"x\\"`), properties: map[string]string{"content_type": hstoreType}},
	"empty hstore": {body: []byte{}, properties: map[string]string{"content_type": hstoreType}},
	"all properties": {body: []byte("x"), properties: map[string]string{
		"content_type": "text/plain", "content_encoding": "utf-8", "delivery_mode": "1", "priority": "7", "correlation_id": "c-1",
		"reply_to": "temp.reply", "expiration": "600000", "timestamp": "2024-02-29 12:34:56", "type": "order", "user_id": "guest", "app_id": "shop",
	}},
	"texts as headers": {body: []byte("x"), properties: textType, headers: []header{
		{"a", "1", text("1")}, {"empty", "", text("")}, {"none", nil, nil}, {"Ключ с пробелом", "знач\"ение", text("знач\"ение")},
		{"long", strings.Repeat("x", 60_000), text(strings.Repeat("x", 60_000))},
	}},
	"a header too long for jobs": {body: []byte("x"), properties: textType, headers: []header{
		{"long", strings.Repeat("x", 70_000), text(strings.Repeat("x", 70_000))},
	}},
	"typed headers": {body: []byte("x"), properties: textType, headers: []header{
		{"int", int32(-42), text("-42")}, {"long", int64(1) << 40, text("1099511627776")}, {"yes", true, text("true")}, {"no", false, text("false")},
		{"double", 1.5, text("1.5")}, {"time", time.Unix(1709210096, 0).UTC(), text("2024-02-29 12:34:56")},
		{"decimal", amqp.Decimal{Scale: 2, Value: 12345}, text("123.45")}, {"bytes", []byte{1, 255}, text("\\x01ff")},
		{"table", amqp.Table{"k": "v", "n": int32(1)}, text(`{"k":"v","n":1}`)}, {"array", []any{"a", int32(2), nil}, text(`["a",2,null]`)},
	}},
	"a name":   {id: "%s.x1", body: []byte("x"), properties: textType},
	"a sender": {id: "%s.x2", body: []byte("x"), properties: map[string]string{"content_type": "text/plain", "app_id": "shop"}},
}

func random(n int) []byte {
	rng := rand.New(rand.NewPCG(1, 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// TestRoundTrip sends each case over every protocol and consumes it over every other.
func TestRoundTrip(t *testing.T) {
	start(t).pairs(0, func(t *testing.T, p pair) {
		for _, name := range names(cases) {
			t.Run(name, func(t *testing.T) {
				p := p
				p.t = t
				m := cases[name]
				if m.id != "" {
					m.id = fmt.Sprintf(m.id, p.queue)
				}
				p.send(m)
				p.compare(p.take(), m)
				p.none()
			})
		}
		if p.in.plain {
			m := message{body: []byte("no content type")}
			p.send(m)
			p.compare(p.take(), m)
		}
	})
}

// TestOrderAndReturn checks that messages keep their order, also when one was taken and returned.
func TestOrderAndReturn(t *testing.T) {
	start(t).pairs(0, func(t *testing.T, p pair) {
		for i := range 20 {
			p.send(message{body: []byte(fmt.Sprint(i)), properties: textType})
		}
		for i := range 20 {
			for range i % 3 {
				err := p.n.ends[p.in.name].giveBack(t.Context(), p.queue)
				if errors.Is(err, errors.ErrUnsupported) {
					break
				}
				p.must(err)
			}
			want := message{body: []byte(fmt.Sprint(i)), again: i%3 > 0 && p.in.marks && p.out.marks && !p.out.blind}
			if got := p.take(); string(got.body) != string(want.body) || got.again != want.again {
				t.Fatalf("message %d is %q, given back: %v", i, got.body, got.again)
			}
		}
		p.none()
	})
}

// TestPriorities checks that the message with the highest priority comes first, whichever protocol
// sets it.
func TestPriorities(t *testing.T) {
	start(t).pairs(9, func(t *testing.T, p pair) {
		for _, priority := range []string{"1", "9", "5", "0", "9"} {
			p.send(message{body: []byte("of " + priority), properties: map[string]string{"content_type": "text/plain", "priority": priority}})
		}
		for _, want := range []string{"9", "9", "5", "1", "0"} {
			if got := p.take(); string(got.body) != "of "+want {
				t.Errorf("%q came, want %s", got.body, want)
			}
		}
	})
}

// TestExpiryAndDelay checks that an expired message never comes, and a delayed one not before its
// time.
func TestExpiryAndDelay(t *testing.T) {
	start(t).pairs(0, func(t *testing.T, p pair) {
		p.send(message{body: []byte("short"), properties: textType, expires: time.Millisecond})
		p.send(message{body: []byte("stays"), properties: textType, expires: time.Hour})
		<-time.After(5 * time.Millisecond)
		if got := p.take(); string(got.body) != "stays" {
			t.Errorf("%q came", got.body)
		}
		p.none()
		const delay = 100 * time.Millisecond
		due := time.Now().Add(delay).Truncate(time.Millisecond) // jobs have whole milliseconds
		switch err := p.n.ends[p.in.name].send(t.Context(), p.queue, message{body: []byte("late"), properties: textType, delayed: delay}); {
		case errors.Is(err, errors.ErrUnsupported):
			return
		case err != nil:
			t.Fatal(err)
		}
		for end := time.Now().Add(patience); ; {
			m, ok, err := p.n.ends[p.out.name].take(t.Context(), p.queue)
			p.must(err)
			if ok && time.Now().Before(due) {
				t.Fatalf("%q came early", m.body)
			}
			if ok {
				return
			}
			if time.Now().After(end) {
				t.Fatal("it never came")
			}
			<-time.After(5 * time.Millisecond)
		}
	})
}

// TestRestart checks that persistent messages survive a restart of the broker, and transient ones
// do not.
func TestRestart(t *testing.T) {
	n := start(t)
	var all []pair
	n.pairs(0, func(t *testing.T, p pair) {
		all = append(all, p)
		if p.in.volatile {
			p.send(message{body: []byte("volatile"), properties: map[string]string{"content_type": "text/plain", "delivery_mode": "1"}})
		}
		p.send(message{body: []byte("kept"), properties: textType, headers: []header{{"h", "v", text("v")}}})
	})
	n.restart()
	for _, p := range all {
		p.t = t
		if got := p.take(); string(got.body) != "kept" {
			t.Errorf("%s has %q", p.queue, got.body)
		} else {
			p.compare(got, message{body: []byte("kept"), properties: textType, headers: []header{{"h", "v", text("v")}}})
		}
		p.none()
	}
}
