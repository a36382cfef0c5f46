package broker

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"fiveways/internal/core/message"
	"fiveways/internal/storage/vfs"
)

func TestAwaited(t *testing.T) {
	for _, row := range []struct {
		value any
		want  []string
	}{
		{nil, nil}, {int32(5), nil},
		{"a", []string{"a"}}, {"a,b", []string{"a,b"}}, {"{", []string{"{"}},
		{message.Array{"a", message.Bytes("b"), int32(1), "c"}, []string{"a", "b", "c"}},
		{message.Bytes("a"), []string{"a"}}, {message.Bytes("{a,b}"), []string{"a", "b"}},
		{"{}", nil}, {"{a}", []string{"a"}}, {"{a,b c, d }", []string{"a", "b c", "d"}},
		{`{"a,b", "c\"}d" ,NULL,"null",e\,f}`, []string{"a,b", `c"}d`, "null", "e,f"}},
		{`{"a`, []string{`{"a`}}, {`{"a}`, []string{"a"}}, {`{,}`, nil}, {`{\}`, []string{`\`}},
	} {
		if got := awaited(row.value); !slices.Equal(got, row.want) {
			t.Errorf("%v: %q, want %q", row.value, got, row.want)
		}
	}
}

// step publishes a persistent message with an id that waits for others.
func (c *client) step(id string, after any, change func(*Publish)) {
	c.t.Helper()
	props := withHeaders("consume_after", after)
	props.Flags |= message.HasMessageID
	props.MessageID = id
	c.postProps("", "q", id, props, change)
}

func ordered(s *QueueSpec) { s.Policy.ConsumeAfter = true }

func TestConsumeAfter(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Now = func() time.Time { return now } })
	defer mustClose(t, b)
	c := newClient(t, b)
	c.queue("q", ordered)
	c.step("set limit", "create user", nil) // what is not there does not block
	c.step("create user", nil, nil)
	c.step("rename", message.Array{"create user", "set limit", "create user", "rename"}, nil)
	c.step("remove", "{rename}", nil)
	c.settled("q")
	sameStrings(t, c.browse("q", 100), "set limit ready 0", "create user ready 0", "rename blocked 0", "remove blocked 0")
	if info, err := c.DeclareQueue(QueueSpec{Name: "q", Passive: true}); err != nil || info.Ready != 2 {
		t.Fatalf("%+v, %v", info, err)
	}
	k := c.consume("q", nil)
	c.settled("q")
	ds := c.of(k)
	sameStrings(t, bodies(ds), "set limit", "create user")
	c.ack(ds[0])
	c.settled("q")
	c.Requeue(ds[1].Queue, k, ds[1].Handle, 1) // still there
	c.settled("q")
	ds = c.of(k)
	sameStrings(t, bodies(ds), "create user")
	c.Reject(ds[0].Queue, k, ds[0].Handle, 1)
	c.settled("q")
	ds = c.of(k)
	sameStrings(t, bodies(ds), "rename")
	c.ack(ds...)
	c.settled("q")
	ds = c.of(k)
	sameStrings(t, bodies(ds), "remove")
	c.ack(ds...)
	c.Cancel(k)

	// Expiry and purge end a wait, too; a message may expire while it waits, and its own time must come as well.
	c.step("short", nil, func(p *Publish) { p.TTL = 100 })
	c.step("late", "short", func(p *Publish) { p.NotBefore = now.Add(time.Hour).UnixMilli() })
	c.step("never", "late", func(p *Publish) { p.TTL = 1000 })
	c.step("after purge", "late", nil)
	c.settled("q")
	later := func(d time.Duration) {
		c.pickyState("q", func(*shard, *Queue) { now = now.Add(d) })
		c.settled("q")
	}
	later(200 * time.Millisecond)
	sameStrings(t, c.browse("q", 100), "late scheduled 0", "never blocked 0", "after purge blocked 0")
	later(time.Second)
	sameStrings(t, c.browse("q", 100), "late scheduled 0", "after purge blocked 0")
	later(time.Hour)
	sameStrings(t, c.browse("q", 100), "late ready 0", "after purge blocked 0")
	if n, err := c.PurgeQueue("q"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	sameStrings(t, c.drain("q"), "after purge")
	c.pickyState("q", func(_ *shard, q *Queue) {
		if a := q.after; len(a.ids)+len(a.live)+len(a.waits) != 0 {
			t.Errorf("left behind: %+v", a)
		}
	})
}

// What waits for a long-lived message and expires meanwhile is forgotten.
func TestConsumeAfterForgetsThoseThatExpired(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Now = func() time.Time { return now } })
	defer mustClose(t, b)
	c := newClient(t, b)
	c.queue("q", ordered)
	c.step("first", nil, nil)
	c.step("stays", "first", nil)
	for i := range 1000 {
		c.step(fmt.Sprint(i), "first", func(p *Publish) { p.TTL = 1 })
		c.settled("q")
		c.pickyState("q", func(*shard, *Queue) { now = now.Add(2 * time.Millisecond) })
		c.settled("q")
	}
	c.pickyState("q", func(_ *shard, q *Queue) {
		if n := len(q.after.live[sumOf([]byte("first"))].waiters); n > 100 {
			t.Errorf("%d are remembered to wait", n)
		}
	})
	sameStrings(t, c.drain("q"), "first", "stays")
}

// What was blocked counts for the length limit as soon as it is ready.
func TestConsumeAfterAndLengthLimit(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	c.queue("q", func(s *QueueSpec) { ordered(s); s.Policy.MaxLength = 1 })
	c.step("first", nil, nil)
	for _, id := range []string{"a", "b", "c"} {
		c.step(id, "first", nil)
	}
	sameStrings(t, c.drain("q"), "first", "c")
}

// TestConsumeAfterTwin compares what may be had with a naive model, over random ids, settlements and restarts.
func TestConsumeAfterTwin(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { runAfterTwin(t, seed) })
	}
}

type stepTwin struct {
	body, id string
	priority uint8
	waits    []*stepTwin
	out      bool
}

func runAfterTwin(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 5))
	mem := vfs.NewMem()
	options := func(o *Options) { o.Shards, o.SegmentBytes, o.CheckpointBytes = 1, 16<<10, 4<<10 }
	b := openBroker(t, mem, options)
	c := newClient(t, b)
	c.queue("q", func(s *QueueSpec) {
		ordered(s)
		s.Policy.MaxPriority = uint8(seed % 3)
		if seed%2 == 0 {
			grouped(s)
		}
	})
	var live []*stepTwin
	var out []Delivery
	remove := func(m *stepTwin) { live = slices.DeleteFunc(live, func(o *stepTwin) bool { return o == m }) }
	blocked := func(m *stepTwin) bool {
		return slices.ContainsFunc(m.waits, func(w *stepTwin) bool { return slices.Contains(live, w) })
	}
	first := func() (best *stepTwin) {
		for _, m := range live {
			if !m.out && !blocked(m) && (best == nil || m.priority > best.priority) {
				best = m
			}
		}
		return best
	}
	find := func(d Delivery) *stepTwin {
		return live[slices.IndexFunc(live, func(m *stepTwin) bool { return m.body == string(d.Env.Body()) })]
	}
	for step := range 1200 {
		switch op := rng.IntN(100); {
		case op < 45:
			m := &stepTwin{body: fmt.Sprint(step), id: fmt.Sprint(rng.IntN(25)), priority: uint8(rng.IntN(1 + int(seed%3)))}
			var after message.Array
			for range rng.IntN(4) {
				id := fmt.Sprint(rng.IntN(25))
				after = append(after, id)
				for _, o := range live {
					if o.id == id {
						m.waits = append(m.waits, o)
					}
				}
			}
			props := withHeaders("consume_after", after)
			props.Flags |= message.HasMessageID
			props.MessageID = m.id
			c.postProps("", "q", m.body, props, func(p *Publish) { p.Priority = m.priority })
			live = append(live, m)
		case op < 65:
			d, _, ok, err := c.Get("q", false)
			must(t, err)
			want := first()
			if ok != (want != nil) || ok && string(d.Env.Body()) != want.body {
				t.Fatalf("step %d: got %v %q, want %+v", step, ok, d.Env, want)
			}
			if ok {
				want.out = true
				out = append(out, d)
			}
		case op < 95 && len(out) > 0:
			i := rng.IntN(len(out))
			d := out[i]
			out = slices.Delete(out, i, i+1)
			if m := find(d); rng.IntN(3) == 0 {
				c.Requeue(d.Queue, nil, d.Handle, 1)
				m.out = false
			} else {
				c.Ack(d.Queue, nil, d.Handle, 1)
				remove(m)
			}
		case op == 95 && rng.IntN(3) == 0:
			must(t, err2(c.PurgeQueue("q")))
			var gone []*stepTwin
			for _, m := range live {
				if !m.out && !blocked(m) {
					gone = append(gone, m)
				}
			}
			for _, m := range gone {
				remove(m)
			}
		case op == 96:
			c.Flush()
			b.checkpointDue(false)
		case op == 97:
			c.Flush()
			want, err := b.Hash()
			must(t, err)
			syncAll(t, b)
			mem = mem.CrashClone(rng)
			b = openBroker(t, mem, options)
			c = newClient(t, b)
			if got, err := b.Hash(); err != nil || got != want {
				t.Fatalf("hash %x after a crash, want %x, %v", got, want, err)
			}
			out = nil
			for _, m := range live {
				m.out = false
			}
		}
	}
	for _, d := range out {
		c.Ack(d.Queue, nil, d.Handle, 1)
		remove(find(d))
	}
	c.Flush()
	for len(live) > 0 {
		d, _, ok, err := c.Get("q", true)
		want := first()
		if err != nil || !ok || string(d.Env.Body()) != want.body {
			t.Fatalf("%d left: %v %v, want %q", len(live), ok, err, want.body)
		}
		remove(want)
	}
	mustClose(t, b)
}
