package broker

import (
	"math/rand/v2"
	"testing"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// Names that are not valid UTF-8 are restored byte by byte, from the log and from a checkpoint.
func TestNamesAreBytes(t *testing.T) {
	fs := vfs.NewMem()
	b := openBroker(t, fs, nil)
	c := newClient(t, b)
	must(t, c.DeclareExchange(ExchangeSpec{Name: "rest\xff", Type: "fanout", Durable: true}))
	must(t, c.DeclareExchange(ExchangeSpec{Name: "x\xff", Type: "topic", Durable: true, Alternate: "rest\xff"}))
	must(t, c.DeclareExchange(ExchangeSpec{Name: "y\xff", Type: "direct", Durable: true}))
	must(t, c.DeclareExchange(ExchangeSpec{Name: "gone\xff", Type: "direct", Durable: true}))
	c.delayed("later\xff", "fanout", nil)
	c.queue("q\xff", func(s *QueueSpec) {
		s.Policy.DeadLetter, s.Policy.DeadLetterExchange = true, "rest\xff"
		s.Policy.HasDeadLetterKey, s.Policy.DeadLetterKey = true, "key\xff"
		s.Policy.MaxLength = 1
	})
	c.queue("q\ufffd", nil) // what "q\xff" would be as valid UTF-8
	c.queue("rest\xff", nil)
	c.queue("gone\xff", nil)
	bind := func(source, queue, key string) {
		t.Helper()
		must(t, c.Bind(BindSpec{Source: source, Destination: queue, Key: key}))
	}
	must(t, c.Bind(BindSpec{Source: "x\xff", Destination: "y\xff", ToExchange: true, Key: "a.\xff"}))
	bind("y\xff", "q\xff", "a.\xff")
	bind("y\xff", "q\ufffd", "a.\ufffd")
	bind("rest\xff", "rest\xff", "")
	bind("x\xff", "rest\xff", "unbound\xff")
	must(t, c.Unbind(BindSpec{Source: "x\xff", Destination: "rest\xff", Key: "unbound\xff"}))
	_, err := c.DeleteQueue("gone\xff", false, false)
	must(t, err)
	must(t, c.DeleteExchange("gone\xff", false))
	_, err = b.SetTopicPermission(TopicPermission{User: "guest", VHost: "/", Exchange: "x\xff", Write: "^a", Read: "^b"})
	must(t, err)
	c.put("x\xff", "a.\xff", "first", nil)
	syncAll(t, b)
	want, err := b.Hash()
	must(t, err)

	killed := fs.CrashClone(rand.New(rand.NewPCG(1, 2)))
	mustClose(t, b) // writes a checkpoint
	for from, fs := range map[string]vfs.FS{"log": killed, "checkpoint": fs} {
		b := openBroker(t, fs, nil)
		if got, err := b.Hash(); err != nil || got != want {
			t.Errorf("from the %s: the hash is %x, %v, want %x", from, got, err, want)
		}
		c := newClient(t, b)
		for _, gone := range []string{"gone\xff", "q"} {
			if _, err := c.DeclareQueue(QueueSpec{Name: gone, Passive: true}); err == nil {
				t.Errorf("from the %s: queue %q is there", from, gone)
			}
		}
		if got := b.TopicPermissions("guest", "/"); len(got) != 1 || got[0].Exchange != "x\xff" {
			t.Errorf("from the %s: topic permissions %+v", from, got)
		}
		c.put("x\xff", "a.\xff", "second", nil) // drops the first one, which goes to the dead-letter exchange
		c.put("x\xff", "a.\ufffd", "third", nil)
		c.put("x\xff", "a.nobody", "fourth", nil) // to the alternate exchange
		sameStrings(t, c.drain("q\xff"), "second")
		sameStrings(t, c.drain("q\ufffd"))
		d, _, _, err := c.Get("rest\xff", true)
		must(t, err)
		if _, key, _, _ := d.Env.Split(); string(key) != "key\xff" || string(d.Env.Body()) != "first" {
			t.Errorf("from the %s: dead-lettered %q with the key %q", from, d.Env.Body(), key)
		}
		sameStrings(t, c.drain("rest\xff"), "third", "fourth")
		c.Close()
		mustClose(t, b)
	}
}
