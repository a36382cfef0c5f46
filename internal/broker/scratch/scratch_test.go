package scratch

import (
	"bytes"
	"testing"
	"testing/synctest"

	"fiveways/internal/core/message"
	"fiveways/internal/core/shardstate"
	"fiveways/internal/storage/store"
	"fiveways/internal/storage/vfs"
)

// A body can be read from the moment it was put, whether or not it is written.
func TestBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, err := store.Open(vfs.NewMem(), "scratch", store.Options{Scratch: true})
		if err != nil {
			t.Fatal(err)
		}
		used := int64(0)
		shared := &Shared{Scratch: st, Moved: func(bytes int64) { used += bytes }}
		b := NewBodies(shared, 3, func(fn func()) bool { fn(); return true })
		if !b.Usable() {
			t.Fatal("a healthy scratch log cannot be used")
		}
		check := func(when string, index uint64, sub uint32, reader *store.Reader, want message.Envelope) {
			t.Helper()
			fact, err := b.Read(index, sub, reader)
			var m shardstate.Message
			if err == nil {
				err = m.Decode(fact)
			}
			if err != nil || !bytes.Equal(m.Env, want) {
				t.Errorf("%s: body %d/%d is %q, %v; want %q", when, index, sub, m.Env, err, want)
			}
		}
		first, second := envelope("first"), envelope("second")
		i1, s1 := b.Put(first)
		i2, s2 := b.Put(second)
		b.Propose()
		if used == 0 {
			t.Error("bodies on their way take no memory")
		}
		check("on its way", i1, s1, nil, first)
		synctest.Wait()
		if used != 0 {
			t.Errorf("%d bytes are taken by bodies that are written", used)
		}
		check("written", i2, s2, nil, second)
		reader := b.NewReader()
		check("read ahead", i1, s1, reader, first)
		check("read ahead", i2, s2, reader, second)
		b.Propose() // nothing to write
		b.Release(i1)
		b.Release(i2)
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
