package semaphores

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/invariants"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/semaphore"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// image returns a checkpoint of the manager.
func (m *Manager) image(t testing.TB) []byte {
	t.Helper()
	_, write := m.Freeze()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// samples returns entries with all kinds of facts, and a checkpoint.
func samples(t testing.TB) (entries [][]byte, image []byte) {
	n := open(&testing.T{}, vfs.NewMem())
	n.spy.heard = func(entry []byte) { entries = append(entries, slices.Clone(entry)) }
	n.createWithLease("k", 1, 1e9)
	n.do(&Enqueue{Of: Of{Key: "k"}, Entries: []Entry{{Task: "1", Priority: 1}, {Task: "käse", Priority: -2.5, Lease: 9, Owner: -7}}})
	n.enqueue("k", "2 3")
	n.release("k", "1")
	n.create("l", 0, 0)
	active := 3
	n.do(&Update{Of: Of{Key: "l"}, Settings: Settings{Active: &active}})
	n.must(n.m.EndOwners(-7))
	image = n.m.image(t)
	n.do(&Delete{Of: Of{Key: "k"}})
	n.close()
	return entries, image
}

// TestFormat checks the bytes of docs/format/semaphores.md. They are on disk: this test must still
// pass with a newer format.
func TestFormat(t *testing.T) {
	s := &sem{id: 5, vhost: catalog.VHostID{Name: "/", Made: 2}, key: "k", created: 300}
	s.state = semaphore.New(semaphore.Config{Active: 2, TryRelease: 1, Ascending: true, Lease: 200})
	var f facts
	f.create(s)
	f.put(s, &semaphore.Task{ID: "a", Priority: 1, Seq: 1, Enqueued: 1000})
	s.events = 1
	f.transition(s, "a", semaphore.EventAcquired)
	f.put(s, &semaphore.Task{ID: "b", Status: semaphore.TryRelease, Priority: -2, Seq: 2, Enqueued: 1000, Lease: 7, Owner: 9})
	f.remove(s, "b")
	f.configure(s)
	f.delete(s)
	other := &sem{id: 6}
	f.drop(other)
	want := "\x01" +
		"\x01\x05\x01/\x02\x01k\xac\x02" + "\x01\x02\x01\xc8\x01" +
		"\x06\x00\x01a\x00\x00\x00\x00\x00\x00\xf0\x3f\x01\xe8\x07" +
		"\x08\x01\x01\x01a" +
		"\x06\x0b\x01b\x00\x00\x00\x00\x00\x00\x00\xc0\x02\xe8\x07\x07\x09\x00\x00\x00\x00\x00\x00\x00" +
		"\x07\x01b" + "\x03\x01\x02\x01\xc8\x01" + "\x04" + "\x02\x06\x05"
	if string(f.b) != want {
		t.Errorf("%q\nwant %q", f.b, want)
	}
	header := appendHeader([]byte{partSemaphore}, s)
	if want := "\x01\x05\x01/\x02\x01k\xac\x02" + "\x01\x02\x01\xc8\x01" + "\x00\x01\x01"; string(header) != want {
		t.Errorf("%q\nwant %q", header, want)
	}
}

// Newer versions are rejected as unsupported, and damage as damage.
func TestUnreadable(t *testing.T) {
	var f facts
	f.create(&sem{id: 7, vhost: catalog.VHostID{Name: "/"}, key: "behind", state: semaphore.New(semaphore.Config{})})
	for entry, want := range map[string]error{
		"":                     errFormat,
		"\x02":                 store.ErrUnsupportedFormat,
		"\x01\x63":             store.ErrUnsupportedFormat,
		"\x01\x01\x05":         errFormat,
		"\x01\x02\x05\x08\x09": errFormat,
	} {
		m := New(Options{})
		m.Apply(1, []byte(entry))
		m.Apply(2, f.b) // nothing is applied after an unreadable entry
		if len(m.table.byID) > 0 {
			t.Errorf("%q: what is behind it was done", entry)
		}
		if err := m.Start(nil); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", entry, err, want)
		}
	}
	one := "\x01\x05\x01/\x02\x01k\xac\x02" + "\x01\x02\x01\xc8\x01" + "\x00\x01\x01"
	for image, want := range map[string]error{
		"": errFormat, "\x01": errFormat, "\x02": store.ErrUnsupportedFormat, "\x01\x09": store.ErrUnsupportedFormat,
		"\x01" + one + "\x00\x05": nil, "\x01" + one + one + "\x00\x05": errFormat,
	} {
		if err := New(Options{}).Restore(bytes.NewReader([]byte(image))); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", image, err, want)
		}
	}
}

func FuzzApply(f *testing.F) {
	skipChecked(f)
	entries, image := samples(f)
	for _, entry := range entries {
		f.Add(entry)
	}
	f.Fuzz(func(t *testing.T, entry []byte) {
		m := New(Options{})
		if err := m.Restore(bytes.NewReader(image)); err != nil {
			t.Fatal(err)
		}
		m.Apply(1, entry)
		if m.broken == nil {
			sound(t, m)
		}
	})
}

func FuzzRestore(f *testing.F) {
	skipChecked(f)
	_, image := samples(f)
	f.Add(image)
	f.Fuzz(func(t *testing.T, image []byte) {
		m := New(Options{})
		if m.Restore(bytes.NewReader(image)) == nil {
			sound(t, m)
		}
	})
}

// skipChecked skips a fuzz test in builds with the tag invariants. They panic at two tasks with the
// same number, which no real log contains and decoding does not check.
func skipChecked(f *testing.F) {
	if invariants.Enabled {
		f.Skip("the invariants do not hold for arbitrary logs")
	}
}

// sound checks that a decoded table can be encoded and decoded again.
func sound(t *testing.T, m *Manager) {
	for _, s := range m.table.byID {
		m.table.settle(s)
		seen := map[uint64]bool{}
		for task := range s.state.From(1) {
			if seen[task.Seq] {
				return // no real log has two tasks with the same number; their order is undefined
			}
			seen[task.Seq] = true
		}
	}
	again := New(Options{})
	if err := again.Restore(bytes.NewReader(m.image(t))); err != nil {
		t.Fatal(err)
	}
	if hashOf(again) != hashOf(m) {
		t.Fatal("it is another one after it was written and read")
	}
}

// An event is the message that docs/features/semaphores.md describes.
func TestMessage(t *testing.T) {
	e := &Event{
		Key: "crowd.big", Event: semaphore.EventTryRelease, Seq: 17, Time: 1_700_000_000_999, of: &sem{id: 3},
		Task: semaphore.Task{ID: `4"2`, Priority: 1.5, Status: semaphore.TryRelease},
	}
	exchange, key, props, body := envelope(e).Split()
	if got, want := string(exchange)+" "+string(key), "semaphore.events crowd.big.TryRelease"; got != want {
		t.Errorf("to %s, want %s", got, want)
	}
	if want := `{"key":"crowd.big","task":"4\"2","event":"TryRelease","status":"TRY_RELEASE","priority":1.5,"seq":17}`; string(body) != want {
		t.Errorf("%s\nwant %s", body, want)
	}
	p, err := message.DecodeProperties(props)
	if err != nil || p.MessageID != "3-17" || p.Type != "semaphore.TryRelease" || p.Timestamp != 1_700_000_000 || p.DeliveryMode != 2 || p.ContentType != "application/json" {
		t.Errorf("%+v, %v", p, err)
	}
	for name, want := range map[string]any{"key": "crowd.big", "task": `4"2`, "status": "TRY_RELEASE", "priority": 1.5, "event": "TryRelease", "seq": int64(17)} {
		if got, _ := p.Headers.Get(name); got != want {
			t.Errorf("header %s: %v, want %v", name, got, want)
		}
	}
	e.Event, e.Gone = semaphore.EventExpired, true
	p, _ = message.DecodeProperties(envelope(e).Properties())
	if got, _ := p.Headers.Get("status"); got != "" {
		t.Errorf("status of a task that is gone: %v", got)
	}
}
