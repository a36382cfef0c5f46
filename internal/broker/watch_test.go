package broker

import (
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// TestUnchanged: commands behind a condition are executed only if its queue has not changed in any
// way.
func TestUnchanged(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c, other := newClient(t, b), newClient(t, b)
	c.queue("q", nil)
	c.put("", "q", "first", nil)
	try := func(queue string, change func()) (done bool) {
		t.Helper()
		look := &Look{OnQueue: OnQueue{Queue: queue}}
		must(t, c.Do(look))
		change()
		push := &pushing{OnQueue: OnQueue{Queue: "result"}, Bodies: [][]byte{[]byte("x")}, Create: true}
		same := &Unchanged{OnQueue: OnQueue{Queue: queue}, Since: look.Version}
		must(t, c.DoAll(same, push))
		count := &Count{OnQueue: OnQueue{Queue: "result"}}
		must(t, c.Do(count))
		if count.Ready > 0 {
			must(t, c.Do(&Clear{OnQueue: OnQueue{Queue: "result"}}))
		}
		if done := count.Ready > 0; done == same.Changed {
			t.Errorf("%s: done %v, changed %v", queue, done, same.Changed)
		}
		return !same.Changed
	}
	for _, tc := range []struct {
		name, queue string
		change      func()
		done        bool
	}{
		{"nothing happened", "q", func() {}, true},
		{"another queue was made", "q", func() { other.queue("other", nil) }, true},
		{"publish", "q", func() { other.put("", "q", "second", nil) }, false},
		{"get", "q", func() { other.Get("q", true) }, false},
		{"pop", "q", func() { must(t, other.Do(&popping{OnQueue: OnQueue{Queue: "q"}, Max: 1})) }, false},
		{"still not there", "none", func() {}, true},
		{"made and empty", "new", func() { other.queue("new", nil) }, true},
		{"made and filled", "newer", func() { other.queue("newer", nil); other.put("", "newer", "x", nil) }, false},
		{"filled and emptied", "newest", func() {
			other.do(&pushing{OnQueue: on("newest"), Bodies: values("x"), Create: true}, &popping{OnQueue: on("newest"), Max: 1})
		}, false},
		{"filled and cleared", "cleared", func() {
			other.do(&pushing{OnQueue: on("cleared"), Bodies: values("x"), Create: true}, &Clear{OnQueue: on("cleared")})
		}, false},
		{"became a stream", "stream", func() { other.do(newAdd("stream", 1, "x")) }, false},
		{"a stream, nothing happened", "stream", func() {}, true},
		{"entry", "stream", func() { other.do(newAdd("stream", 2, "x")) }, false},
		{"stream cleared", "stream", func() { other.do(&Clear{OnQueue: on("stream")}) }, false},
		{"deleted", "q", func() { other.DeleteQueue("q", false, false) }, false},
	} {
		if got := try(tc.queue, tc.change); got != tc.done {
			t.Errorf("%s: done is %v", tc.name, got)
		}
	}
}

// TestUnchangedRefused: of a queue that was missing, and that the session may not see later,
// nothing is known.
func TestUnchangedRefused(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c, owner := newClient(t, b), newClient(t, b)
	same := func() *Unchanged { return &Unchanged{OnQueue: on("mine")} }
	before, after := same(), same()
	must(t, c.DoAll(before))
	owner.queue("mine", func(s *QueueSpec) { s.Exclusive = true })
	must(t, c.DoAll(after))
	if before.Changed || !after.Changed {
		t.Errorf("changed before it was declared: %v, afterwards: %v", before.Changed, after.Changed)
	}
}

// TestUnchangedExpiry: a message that expires by itself is a change, too.
func TestUnchangedExpiry(t *testing.T) {
	for _, tc := range []struct {
		name    string
		queue   func(*QueueSpec)
		publish func(*shard.Publish)
	}{
		{"of the message", nil, ttl(time.Second)},
		{"of the queue", func(s *QueueSpec) { s.Policy.MessageTTL = 1000 }, nil},
		{"while scheduled", nil, func(p *shard.Publish) {
			p.Deadline, p.NotBefore = time.Now().Add(time.Second).UnixMilli(), time.Now().Add(time.Hour).UnixMilli()
		}},
		{"with a dead letter", func(s *QueueSpec) { s.Policy.DeadLetter, s.Policy.DeadLetterKey = true, "dead" }, ttl(time.Second)},
		{"of a stream's entry", func(s *QueueSpec) { s.Policy.Stream, s.Policy.MaxAge = true, 1000 }, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, c := inBubble(t)
				c.queue("q", tc.queue)
				c.queue("dead", nil)
				c.put("", "q", "x", tc.publish)
				look := &Look{OnQueue: on("q")}
				must(t, c.Do(look))
				for _, s := range []struct {
					wait    time.Duration
					changed bool
				}{{500 * time.Millisecond, false}, {time.Second, true}} {
					<-time.After(s.wait)
					synctest.Wait()
					same := &Unchanged{OnQueue: on("q"), Since: look.Version}
					must(t, c.DoAll(same))
					if same.Changed != s.changed {
						t.Errorf("after another %v: %v", s.wait, same.Changed)
					}
				}
			})
		})
	}
}
