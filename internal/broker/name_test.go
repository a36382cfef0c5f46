package broker

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"

	"fiveways/internal/storage/vfs"
)

// Names are on disks as these bytes.
func TestNameBytes(t *testing.T) {
	for n, want := range map[string]string{
		"":               `""`,
		"orders":         `"orders"`,
		"Käse\x00\u2028": `"Käse\u0000\u2028"`,
		"\ufffd":         `"�"`,
		"<a&b>":          `"\u003ca\u0026b\u003e"`,
		"a\xff":          `{"base64":"Yf8="}`,
		"\xed\xa0\x80":   `{"base64":"7aCA"}`, // half of a pair
	} {
		got, err := json.Marshal(name(n))
		if err != nil || string(got) != want {
			t.Errorf("%q is written as %s, %v, want %s", n, got, err, want)
		}
		var again name
		if err := json.Unmarshal(got, &again); err != nil || string(again) != n {
			t.Errorf("%q comes back as %q, %v", n, again, err)
		}
	}
	for _, bad := range []string{`{"base64":"*"}`, `{"base64":5}`, `5`, `["a"]`} {
		if json.Unmarshal([]byte(bad), new(name)) == nil {
			t.Errorf("%s is read as a name", bad)
		}
	}
}

// Every text of a policy comes from a client; and what is said of a policy before a member existed is what it was.
func TestPolicyKeepsBytes(t *testing.T) {
	p := DefaultQueuePolicy()
	for v, i := reflect.ValueOf(&p).Elem(), 0; i < v.NumField(); i++ {
		if f := v.Field(i); f.Kind() == reflect.String {
			f.SetString("\xff" + v.Type().Field(i).Name)
		}
	}
	b, err := json.Marshal(p)
	must(t, err)
	var again QueuePolicy
	must(t, json.Unmarshal(b, &again))
	if again != p {
		t.Errorf("%s\nis read as %+v", b, again)
	}
	must(t, json.Unmarshal([]byte(`{"MaxLength":3,"DeadLetter":true,"DeadLetterExchange":"dead"}`), &again))
	want := DefaultQueuePolicy()
	want.MaxLength, want.DeadLetter, want.DeadLetterExchange = 3, true, "dead"
	if again != want {
		t.Errorf("an old policy is read as %+v", again)
	}
}

// Names that are no text come back byte by byte: from the log, and from a checkpoint.
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
	c.queue("q\ufffd", nil) // what "q\xff" would be if it were text
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
