package tracing

import (
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// events records events.
type events struct{ in, out []Event }

func (e *events) Published(ev *Event) { e.in = append(e.in, *ev) }
func (e *events) Delivered(ev *Event) { e.out = append(e.out, *ev) }

// envelope returns a message with a value of the header.
func envelope(value any) message.Envelope {
	p := message.Properties{Flags: message.HasHeaders, Headers: message.Table{{Name: "a", Value: "b"}, {Name: Parent, Value: value}}}
	return append(message.AppendEnvelopeHeader(nil, "", "q", p.Append(nil)), "body"...)
}

func TestTracker(t *testing.T) {
	var got events
	clock := time.Unix(1000, 0)
	k := NewTracker(&got, func() time.Time { return clock })
	q := Place{7, "/", "q"}
	for h, value := range []any{nil, int32(7), "short", parent + "0", parent[:len(parent)-1] + "0"} {
		k.Published(q, queue.Handle(h), envelope(value))
		k.Delivered(q, &queue.Item{Handle: queue.Handle(h), Env: envelope(value)})
	}
	if len(got.in)+len(got.out) != 0 {
		t.Errorf("reported %+v", got)
	}
	k.Published(q, 1, envelope(parent))
	first := clock.UnixNano()
	clock = clock.Add(3 * time.Second)
	second := clock.UnixNano()
	k.Delivered(q, &queue.Item{Handle: 1, Size: 4})
	k.Delivered(q, &queue.Item{Handle: 1, Size: 4}) // a message that is only on disk is known once
	k.Delivered(q, &queue.Item{Handle: 1, Size: 4, Env: envelope(parent), Flags: queue.Redelivered})
	if len(got.in) != 1 || got.in[0] != (Event{parent, "/", "q", first, first, 4, false}) {
		t.Errorf("published %+v", got.in)
	}
	if len(got.out) != 2 || got.out[0] != (Event{parent, "/", "q", first, second, 4, false}) || got.out[1] != (Event{parent, "/", "q", second, second, 4, true}) {
		t.Errorf("delivered %+v", got.out)
	}
}

// TestTrackerIsBounded checks that memory for messages that are never delivered is bounded.
func TestTrackerIsBounded(t *testing.T) {
	k := NewTracker(&events{}, time.Now)
	for h := range queue.Handle(maxTracked + 100) {
		k.Published(Place{ID: 1}, h, envelope(parent))
	}
	if n := len(k.tracked); n != maxTracked {
		t.Errorf("%d are remembered", n)
	}
}
