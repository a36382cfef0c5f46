package broker

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/tracing"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// heard records the events it receives.
type heard struct {
	mu   sync.Mutex
	told []tracing.Event
	what []string
}

func (h *heard) Published(t *tracing.Event) { h.add("in", t) }
func (h *heard) Delivered(t *tracing.Event) { h.add("out", t) }

func (h *heard) add(what string, t *tracing.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.told, h.what = append(h.told, *t), append(h.what, what+" "+t.Queue)
}

const ofTrace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// A message with a traceparent is reported when it enters each queue and whenever it is delivered,
// by any means. Others are not.
func TestTraces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &heard{}
		b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Traces = h })
		c := newClient(t, b)
		c.queue("q", nil)
		publish := func(headers message.Table) {
			p := message.Properties{Flags: message.HasHeaders, Headers: headers}
			props := p.Append(nil)
			peek, err := message.PeekProperties(props)
			must(t, err)
			targets, err := c.Route(nil, []byte("q"), &peek, nil)
			must(t, err)
			c.Publish(&shard.Publish{Targets: targets, Env: append(message.AppendEnvelopeHeader(nil, "", "q", props), "body"...), TTL: -1})
			c.Flush()
		}
		take := func() shard.Delivery {
			d, _, ok, err := c.Get("q", false)
			must(t, err)
			if !ok {
				t.Fatal("no message")
			}
			return d
		}
		for _, value := range []any{nil, int32(7), "short", strings.Repeat("x", 1000), ofTrace[:len(ofTrace)-1] + "0"} {
			headers := message.Table{{Name: tracing.Parent, Value: value}}
			publish(headers)
			take()
		}
		if len(h.what) != 0 {
			t.Errorf("told of %v", h.what)
		}
		publish(message.Table{{Name: "a", Value: "b"}, {Name: tracing.Parent, Value: ofTrace}})
		synctest.Wait()
		first := time.Now()
		time.Sleep(3 * time.Second)
		second := time.Now()
		d := take()
		c.Requeue(d.Queue, nil, d.Handle, 1)
		c.Flush()
		d = take()
		c.Ack(d.Queue, nil, d.Handle, 1)
		c.Flush()
		if want := []string{"in q", "out q", "out q"}; !slices.Equal(h.what, want) {
			t.Fatalf("told of %v, want %v", h.what, want)
		}
		if got := h.told[1]; got != (tracing.Event{Parent: ofTrace, VHost: "/", Queue: "q", Since: first.UnixNano(), At: second.UnixNano(), Bytes: 4}) {
			t.Errorf("%+v", got)
		}
		if got := h.told[2]; got != (tracing.Event{Parent: ofTrace, VHost: "/", Queue: "q", Since: second.UnixNano(), At: second.UnixNano(), Bytes: 4, Redelivered: true}) {
			t.Errorf("%+v", got)
		}
		c.Close()
		mustClose(t, b)
	})
}
