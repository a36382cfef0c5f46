package amqp

import (
	"math/rand/v2"
	"testing"

	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// answers decodes confirm frames into one answer per publish, like a client that applies multiple
// to every earlier publish.
func answers(t *testing.T, frames []byte, got map[uint64]bool, last *uint64) (count int) {
	t.Helper()
	for len(frames) > 0 {
		f, n, err := amqpwire.ParseFrame(frames, 0)
		if err != nil || n == 0 {
			t.Fatalf("bad frame: %v", err)
		}
		frames = frames[n:]
		count++
		m, err := amqpwire.DecodeMethod(f.Payload)
		if err != nil {
			t.Fatal(err)
		}
		var tag uint64
		var ok, multiple bool
		switch m := m.(type) {
		case *amqpwire.BasicAck:
			tag, ok, multiple = m.DeliveryTag, true, m.Multiple
		case *amqpwire.BasicNack:
			tag, multiple = m.DeliveryTag, m.Multiple
		default:
			t.Fatalf("unexpected %T", m)
		}
		first := tag
		if multiple {
			first = *last + 1
		}
		for seq := first; seq <= tag; seq++ {
			if _, twice := got[seq]; twice {
				t.Fatalf("publish %d answered twice", seq)
			}
			got[seq] = ok
		}
		*last = tag
	}
	return count
}

// TestConfirmsTwin answers publishes in random order and parts, and compares with the answer that
// each publish should get.
func TestConfirmsTwin(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		c := &conn{}
		c.out.init(nil)
		ch := &channel{c: c, id: 7}
		cf := newConfirms(ch)
		type answer struct {
			seq uint64
			ok  bool
		}
		var open []answer
		want := map[uint64]bool{}
		n := uint64(1 + r.IntN(400))
		for seq := uint64(1); seq <= n; seq++ {
			parts := 1 + max(0, r.IntN(6)-3)
			if parts > 1 {
				cf.expect(seq, parts)
			}
			want[seq] = true
			for range parts {
				ok := r.IntN(10) > 0
				want[seq] = want[seq] && ok
				open = append(open, answer{seq, ok})
			}
		}
		if seed%3 > 0 {
			r.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
		}
		got := map[uint64]bool{}
		last := uint64(0)
		for _, a := range open {
			cf.Confirmed(a.seq, a.seq, a.ok)
			if r.IntN(5) == 0 {
				answers(t, cf.take(nil), got, &last)
			}
		}
		answers(t, cf.take(nil), got, &last)
		for seq, ok := range want {
			if have, answered := got[seq]; !answered || have != ok {
				t.Fatalf("seed %d: publish %d: answered %v with %v, want %v", seed, seq, answered, have, ok)
			}
		}
		if cf.held != 0 {
			t.Fatalf("seed %d: %d slots held at the end", seed, cf.held)
		}
	}
}

// TestConfirmsMerge checks that publishes confirmed in order take one frame.
func TestConfirmsMerge(t *testing.T) {
	c := &conn{}
	c.out.init(nil)
	cf := newConfirms(&channel{c: c, id: 1})
	cf.Confirmed(1, 400, true)
	cf.Confirmed(401, 1000, true)
	want := amqpwire.AppendAck(nil, 1, 1000, true)
	if got := cf.take(nil); string(got) != string(want) {
		t.Errorf("got %x, want %x", got, want)
	}
	cf.Confirmed(1001, 1001, true)
	if got, want := cf.take(nil), amqpwire.AppendAck(nil, 1, 1001, false); string(got) != string(want) {
		t.Errorf("single: got %x, want %x", got, want)
	}
	if cf.slots != nil {
		t.Error("answers in order took memory")
	}
}

// TestConfirmsNackStandsAlone checks that no ack with multiple covers a nacked publish.
func TestConfirmsNackStandsAlone(t *testing.T) {
	c := &conn{}
	c.out.init(nil)
	cf := newConfirms(&channel{c: c, id: 1})
	cf.Confirmed(3, 3, false)
	if got := cf.take(nil); len(got) > 0 {
		t.Fatalf("answered out of order: %x", got)
	}
	cf.Confirmed(4, 6, true)
	cf.Confirmed(1, 2, true)
	want := amqpwire.AppendAck(nil, 1, 2, true)
	want = amqpwire.AppendNack(want, 1, 3, false, false)
	want = amqpwire.AppendAck(want, 1, 6, true)
	if got := cf.take(nil); string(got) != string(want) {
		t.Errorf("got %x, want %x", got, want)
	}
}
