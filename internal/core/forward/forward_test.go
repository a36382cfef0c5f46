package forward

import (
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/core/message"
)

// envelope returns a message with these headers, and with an expiration unless that is "".
func envelope(headers message.Table, expiration string) message.Envelope {
	p := message.Properties{Flags: message.HasHeaders, Headers: headers}
	if expiration != "" {
		p.Flags |= message.HasExpiration
		p.Expiration = expiration
	}
	return append(message.AppendEnvelopeHeader(nil, []byte("x"), []byte("key"), p.Append(nil)), "body"...)
}

func TestDelay(t *testing.T) {
	for _, k := range []struct {
		v    any
		want int64
	}{
		{int8(5), 5}, {uint16(5), 5}, {int64(1) << 40, 1 << 40}, {message.LongLong(7), 7}, {"1500", 1500}, {"soon", 0}, {1500.9, 1500},
		{float32(2.5), 2}, {message.Decimal{Scale: 1, Value: 25}, 2}, {int32(-5), -5}, {true, 0}, {nil, 0}, {int64(1) << 60, MaxDelay},
	} {
		raw := message.AppendTable(nil, message.Table{{Name: "x-delay", Value: k.v}})
		if got := Delay(raw[4:]); got != k.want {
			t.Errorf("x-delay %v (%T) is %d, want %d", k.v, k.v, got, k.want)
		}
	}
}

// TestFurtherKeys checks that a message has the keys of its CC header, which is a list of texts,
// besides its own.
func TestFurtherKeys(t *testing.T) {
	for name, c := range map[string]struct {
		headers message.Table
		want    []string
	}{
		"none":       {nil, nil},
		"two":        {message.Table{{Name: "CC", Value: message.Array{"a", "b"}}}, []string{"a", "b"}},
		"no text":    {message.Table{{Name: "CC", Value: message.Array{int32(1), "b"}}}, []string{"b"}},
		"no list":    {message.Table{{Name: "CC", Value: "a"}}, nil},
		"other case": {message.Table{{Name: "cc", Value: message.Array{"a"}}}, nil},
	} {
		m, err := Read(envelope(c.headers, ""))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, key := range m.Routed().Also {
			got = append(got, string(key))
		}
		if !slices.Equal(got, c.want) || m.OneKey() != (c.want == nil) || string(m.Routed().Key) != "key" {
			t.Errorf("%s: %q, one key %v, want %q", name, got, m.OneKey(), c.want)
		}
	}
}

func TestTTL(t *testing.T) {
	for expiration, want := range map[string]int64{"": -1, "0": 0, "1500": 1500, "soon": -1, "9000000000000000000": MaxDelay} {
		m, err := Read(envelope(nil, expiration))
		if err != nil {
			t.Fatal(err)
		}
		if got := m.TTL(); got != want {
			t.Errorf("expiration %q: %d, want %d", expiration, got, want)
		}
	}
}

// TestEndDelay checks that a delay that is over is negated, in the type that RabbitMQ's plugin
// uses, and that everything else is unchanged.
func TestEndDelay(t *testing.T) {
	for name, c := range map[string]struct{ delay, want any }{
		"short":       {int64(1500), int32(-1500)},
		"text":        {"1500", int32(-1500)},
		"long":        {int64(1) << 40, -(int64(1) << 40)},
		"over":        {int32(-5), int32(-5)},
		"not a delay": {"soon", "soon"},
	} {
		m, err := Read(envelope(message.Table{{Name: "x-delay", Value: c.delay}, {Name: "n", Value: "v"}}, "7"))
		if err != nil {
			t.Fatal(err)
		}
		m.EndDelay()
		v, _ := message.HeaderLookup(m.Peek.Headers, "x-delay")
		other, _ := message.HeaderLookup(m.Peek.Headers, "n")
		exchange, key, _, body := m.Env.Split()
		if v != c.want || other != "v" || m.TTL() != 7 || string(exchange) != "x" || string(key) != "key" || string(body) != "body" {
			t.Errorf("%s: x-delay %v (%T), n %v, ttl %d, %q %q %q", name, v, v, other, m.TTL(), exchange, key, body)
		}
		if again, err := Read(m.Env); err != nil || again.Delay() != m.Delay() {
			t.Errorf("%s: read again: %v, delay %d, want %d", name, err, again.Delay(), m.Delay())
		}
	}
}
