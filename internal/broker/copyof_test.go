package broker

import (
	"testing"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// waitsFor returns the properties of a message with an id that waits for another one.
func waitsFor(id, after string) message.Properties {
	p := message.Properties{
		Flags: message.HasMessageID | message.HasHeaders | message.HasDeliveryMode, MessageID: id, DeliveryMode: message.Persistent,
	}
	if after != "" {
		p.Headers = message.Table{{Name: "consume_after", Value: after}}
	}
	return p
}

// TestCopyOf: messages that wait for a message wait for the one that replaces it in a transaction,
// also after a restart.
func TestCopyOf(t *testing.T) {
	fs := vfs.NewMem()
	b := openBroker(t, fs, nil)
	c := newClient(t, b)
	ordered := func(s *QueueSpec) { s.Policy.ConsumeAfter = true }
	c.queue("q", ordered)
	c.queue("dead", ordered)
	c.put("", "q", "first", func(p *shard.Publish) { *p = c.with(p, waitsFor("1", "")) })
	c.put("", "q", "second", func(p *shard.Publish) { *p = c.with(p, waitsFor("2", "1")) })
	d, _, _, _ := c.Get("q", false)
	tx := c.NewTx()
	copied := d.Env
	targets, err := c.Route(nil, []byte("dead"), &message.Peek{}, nil)
	must(t, err)
	tx.Publish(&shard.Publish{Targets: targets, Env: copied, Persistent: true, TTL: -1, CopyOf: &shard.Loan{Queue: d.Queue, Handle: d.Handle}})
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

// with returns a publish with other properties.
func (c *client) with(p *shard.Publish, props message.Properties) shard.Publish {
	exchange, key, _, body := p.Env.Split()
	out := *p
	out.Env = append(message.AppendEnvelopeHeader(nil, exchange, key, props.Append(nil)), body...)
	out.Persistent = true
	return out
}
