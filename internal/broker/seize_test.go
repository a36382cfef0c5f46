package broker

import (
	"testing"
	"time"

	"fiveways/internal/core/message"
	"fiveways/internal/storage/vfs"
)

// waitsFor is the properties of a message with an id that waits for another.
func waitsFor(id, after string) message.Properties {
	p := message.Properties{
		Flags: message.HasMessageID | message.HasHeaders | message.HasDeliveryMode, MessageID: id, DeliveryMode: message.Persistent,
	}
	if after != "" {
		p.Headers = message.Table{{Name: "consume_after", Value: after}}
	}
	return p
}

func TestSeize(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	ordered := func(s *QueueSpec) { s.Policy.ConsumeAfter = true }
	c.queue("q", ordered)
	c.queue("r", ordered)
	c.postProps("", "q", "first", waitsFor("1", ""), nil)
	c.postProps("", "r", "second", waitsFor("2", "1"), nil)
	c.postProps("", "r", "third", waitsFor("3", "{1,2}"), nil)
	c.postProps("", "r", "late", waitsFor("4", ""), func(p *Publish) { p.NotBefore = time.Now().Add(time.Hour).UnixMilli() })
	c.Flush()
	for _, id := range []string{"2", "4"} {
		if _, ok, err := c.TakeByID(t.Context(), "r", id); ok || err != nil {
			t.Errorf("message %s was taken: %v", id, err)
		}
		d, ok, err := c.SeizeByID(t.Context(), "r", id, nil)
		if !ok || err != nil {
			t.Fatalf("message %s was not seized: %v", id, err)
		}
		c.Release(d.Queue, d.Handle, 1)
	}
	if got := c.drain("r"); len(got) != 0 {
		t.Errorf("what was released could be got: %q", got)
	}
	held := func(ds ...Delivery) func() []Loan {
		return func() (all []Loan) {
			for _, d := range ds {
				all = append(all, Loan{d.Queue, d.Handle})
			}
			return all
		}
	}
	first, _, _, _ := c.Get("q", false)
	if got, err := c.SeizeFreed("r", 10, held()); len(got) != 0 || err != nil {
		t.Errorf("for nothing: %v, %v", got, err)
	}
	got, err := c.SeizeFreed("r", 10, held(first))
	must(t, err)
	sameStrings(t, bodies(got), "second")
	c.Release(got[0].Queue, got[0].Handle, 1)
	if again := c.drain("r"); len(again) != 0 {
		t.Errorf("what was released could be got: %q", again)
	}
	got, err = c.SeizeFreed("r", 10, held(first))
	must(t, err)
	third, err := c.SeizeFreed("r", 10, held(first, got[0]))
	must(t, err)
	sameStrings(t, bodies(third), "third")
	tx := c.NewTx()
	for _, d := range []Delivery{first, got[0], third[0]} {
		tx.Ack(d.Queue, nil, d.Handle, 1)
	}
	must(t, tx.Commit())
	st, err := c.QueueStatus("r")
	must(t, err)
	if st.Ready+st.Unacked+st.Blocked != 0 || st.Scheduled != 1 {
		t.Errorf("left: %+v", st)
	}
}

// TestCopyOf: what waits for a message waits for the one that takes its place in a transaction,
// also after a restart.
func TestCopyOf(t *testing.T) {
	fs := vfs.NewMem()
	b := openBroker(t, fs, nil)
	c := newClient(t, b)
	ordered := func(s *QueueSpec) { s.Policy.ConsumeAfter = true }
	c.queue("q", ordered)
	c.queue("dead", ordered)
	c.put("", "q", "first", func(p *Publish) { *p = c.with(p, waitsFor("1", "")) })
	c.put("", "q", "second", func(p *Publish) { *p = c.with(p, waitsFor("2", "1")) })
	d, _, _, _ := c.Get("q", false)
	tx := c.NewTx()
	copied := d.Env
	targets, err := c.Route(nil, []byte("dead"), &message.Peek{}, nil)
	must(t, err)
	tx.Publish(&Publish{Targets: targets, Env: copied, Persistent: true, TTL: -1, CopyOf: &Loan{d.Queue, d.Handle}})
	tx.Ack(d.Queue, nil, d.Handle, 1)
	must(t, tx.Commit())
	for range 2 {
		if _, _, ok, _ := c.Get("q", false); ok {
			t.Fatal("what waits did not wait for the copy")
		}
		mustClose(t, b)
		b = openBroker(t, fs, nil)
		c = newClient(t, b)
	}
	sameStrings(t, c.drain("dead"), "first")
	sameStrings(t, c.drain("q"), "second")
	mustClose(t, b)
}

// with gives a publish other properties.
func (c *client) with(p *Publish, props message.Properties) Publish {
	exchange, key, _, body := p.Env.Split()
	out := *p
	out.Env = append(message.AppendEnvelopeHeader(nil, exchange, key, props.Append(nil)), body...)
	out.Persistent = true
	return out
}
