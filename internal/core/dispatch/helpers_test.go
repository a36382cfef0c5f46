package dispatch

import (
	"testing"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/core/selector"
)

// room is a queue with consumers, on its own loop or on a shared one.
type room struct {
	loop      *loop
	st        queue.State
	consumers Consumers
	selective *Selective
	look      bool
	again     bool
	out       map[queue.Handle]*Consumer // nil for a Get
	unacked   map[*Consumer][]queue.Handle
}

// loop executes grants when run is called, as a shard executes its operations.
type loop struct {
	grants []func()
	rooms  []*room
	turns  uint64
}

func (l *loop) Grant(s *Share, n int) { l.grants = append(l.grants, func() { s.Granted(n) }) }

func (l *loop) room() *room {
	r := &room{loop: l, out: map[queue.Handle]*Consumer{}, unacked: map[*Consumer][]queue.Handle{}}
	r.consumers.Init(r)
	l.rooms = append(l.rooms, r)
	return r
}

// grouped gives messages of the room groups or, with "", makes it a room for selectors.
func (r *room) grouped(header string) *room {
	r.selective = NewSelective(header, &r.st.Deliveries, r)
	return r
}

func (r *room) Loop() Loop { return r.loop }
func (r *room) Look()      { r.look = true }
func (r *room) LookAgain() { r.again = true }

func (r *room) Next(until int64) *queue.Item { return r.st.NextBeyond(0, until) }

func (r *room) TakeAside(h queue.Handle, _ int64) *queue.Item { return r.st.Lend(h) }

func (r *room) Deliver(c *Consumer, it *queue.Item) {
	r.loop.turns++
	if c.NoAck {
		r.st.Settle(it.Handle)
	} else {
		r.out[it.Handle] = c
		r.unacked[c] = append(r.unacked[c], it.Handle)
	}
	c.Delivered(r.loop.turns)
}

// dispatch dispatches the queue as a shard does.
func (r *room) dispatch() {
	r.look = false
	r.consumers.Begin()
	defer r.consumers.End()
	if r.selective != nil {
		r.selective.Dispatch(&r.consumers, 0)
		return
	}
	for r.st.Ready() > 0 && r.consumers.Len() > 0 {
		c := r.consumers.Next()
		if c == nil {
			return
		}
		it := r.Next(0)
		if it == nil {
			c.Unready()
			return
		}
		r.Deliver(c, it)
	}
}

// rest runs all loops until nothing is left to do.
func rest(loops ...*loop) {
	for busy := true; busy; {
		busy = false
		for _, l := range loops {
			grants := l.grants
			l.grants = nil
			for _, fn := range grants {
				fn()
				busy = true
			}
			for _, r := range l.rooms {
				for r.look || r.again {
					busy, r.again = true, false
					r.dispatch()
				}
			}
		}
	}
}

func (r *room) add(c *Consumer) *Consumer {
	if c.Window == nil {
		c.Window = &Window{}
		c.Window.Init(func() {})
	}
	r.consumers.Add(c)
	r.refilter()
	r.look = true
	return c
}

func (r *room) remove(c *Consumer) {
	r.consumers.Remove(c)
	if r.selective != nil {
		r.selective.Left(c)
		r.refilter()
	}
	r.look = true
}

func (r *room) refilter() {
	if r.selective != nil {
		r.selective.Refilter(&r.consumers)
	}
}

func (r *room) publish(env message.Envelope) queue.Handle {
	r.look = true
	return r.st.Publish(&queue.Item{Env: env, Size: uint32(len(env))})
}

// end ends a delivery: the message is settled, or returned.
func (r *room) end(h queue.Handle, back bool) {
	c := r.out[h]
	delete(r.out, h)
	if r.selective != nil {
		r.selective.Release(h, 1)
	}
	if back {
		r.st.Requeue(h, 1, 0)
	} else {
		r.st.Settle(h)
	}
	if c != nil {
		list := r.unacked[c]
		for i, have := range list {
			if have == h {
				r.unacked[c] = append(list[:i:i], list[i+1:]...)
			}
		}
		c.Returned(1)
	}
	r.look = true
}

// envelope returns a message with headers.
func envelope(headers ...message.Field) message.Envelope {
	p := message.Properties{Flags: message.HasHeaders, Headers: headers}
	return message.Envelope(message.AppendEnvelopeHeader(nil, "", "q", p.Append(nil)))
}

func compile(t *testing.T, text string) *selector.Selector {
	t.Helper()
	if text == "" {
		return nil
	}
	s, err := selector.Compile(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
