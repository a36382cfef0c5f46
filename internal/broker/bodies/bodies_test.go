package bodies

import (
	"bytes"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// A body can be read from the moment it was put, whether or not it is written.
func TestBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, err := store.Open(vfs.NewMem(), "scratch", store.Options{Scratch: true})
		if err != nil {
			t.Fatal(err)
		}
		var used, added atomic.Int64
		shared := &Shared{Scratch: st, Moved: func(bytes int64) {
			used.Add(bytes)
			added.Add(max(bytes, 0))
		}}
		calls := make(chan func(), 1) // for this goroutine, which is the shard's
		b := New(shared, 3, func(fn func()) bool { calls <- fn; return true })
		if !b.Usable() {
			t.Fatal("a healthy scratch log cannot be used")
		}
		check := func(when string, it *queue.Item, reader *Reader, want message.Envelope) {
			t.Helper()
			got, err := message.Envelope(nil), error(nil)
			if reader == nil {
				got, err = b.LoadAside(it)
			} else {
				got, err = b.Load(reader, it)
			}
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: body %d/%d is %q, %v; want %q", when, it.Index, it.Sub, got, err, want)
			}
		}
		put := func(env message.Envelope) *queue.Item {
			it := &queue.Item{Flags: queue.Scratch}
			it.Index, it.Sub = b.Put(env)
			return it
		}
		first, second := envelope("first"), envelope("second")
		i1, i2 := put(first), put(second)
		b.Propose()
		if added.Load() == 0 {
			t.Error("bodies on their way took no memory")
		}
		check("on its way", i1, nil, first)
		(<-calls)()
		if n := used.Load(); n != 0 {
			t.Errorf("%d bytes are taken by bodies that are written", n)
		}
		check("written", i2, nil, second)
		var reader Reader
		check("read ahead", i1, &reader, first)
		check("read ahead", i2, &reader, second)
		b.Propose() // nothing to write
		b.Release(i1.Index)
		b.Release(i2.Index)
		if n := shared.Released.Load(); n != 2 {
			t.Errorf("%d bodies released, want 2", n)
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func envelope(body string) message.Envelope {
	return append(message.AppendEnvelopeHeader(nil, "", "key", []byte{0, 0}), body...)
}
