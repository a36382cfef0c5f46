package backend

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// A damaged or truncated dump is rejected, wherever the damage is. A dump of another version is not
// reported as damaged.
func TestDamagedDump(t *testing.T) {
	w := newTwin(t, 5)
	for len(w.keys) < 20 {
		w.write()
	}
	var dump bytes.Buffer
	if err := w.b.Freeze(1).Write(&dump); err != nil {
		t.Fatal(err)
	}
	step := max(dump.Len()/200, 1)
	for i := 0; i < dump.Len(); i += step {
		damaged := bytes.Clone(dump.Bytes())
		damaged[i] ^= 0x10
		for _, b := range [][]byte{damaged, dump.Bytes()[:i]} {
			_, err := New("").Load(bytes.NewReader(b))
			if !errors.Is(err, ErrDump) && !errors.Is(err, ErrDumpVersion) {
				t.Fatalf("byte %d: a dump of %d bytes: %v", i, len(b), err)
			}
		}
	}
	next := append([]byte("5wkeys\x00\x02"), dump.Bytes()[8:]...)
	if _, err := New("").Load(bytes.NewReader(next)); !errors.Is(err, ErrDumpVersion) || errors.Is(err, ErrDump) {
		t.Errorf("a dump of version 2: %v", err)
	}
}

// The memory of replaced chunks is freed when the last reader that could see it ends, and not
// before.
func TestMemoryIsGivenBack(t *testing.T) {
	w := newTwin(t, 6)
	for range 30 {
		w.write()
	}
	reader, frozen := w.b.ConcurrentReadTx(), w.b.Freeze(1)
	before, want := w.b.current.Load().epoch, w.want.clone()
	for range 30 {
		w.write()
		_ = w.b.Defrag()
	}
	if w.b.current.Load().epoch == before || len(before.retired) == 0 {
		t.Fatal("nothing was rewritten; the test needs other operations")
	}
	w.compareAll(reader, want)
	reader.RUnlock()
	if before.retired == nil {
		t.Error("memory was given back under the dump")
	}
	if frozen.Size() == 0 {
		t.Error("the dump has no size")
	}
	frozen.Release()
	frozen.Release()
	if before.refs.Load() != 0 || before.retired != nil {
		t.Errorf("%d hold the epoch, %d pieces of memory are kept", before.refs.Load(), len(before.retired))
	}
	if now := w.b.current.Load().epoch; now.refs.Load() != 1 {
		t.Errorf("%d hold the current epoch instead of the backend alone", now.refs.Load())
	}
	if err := frozen.Write(io.Discard); err == nil {
		t.Error("a dump was written after Release")
	}
}

// Whatever a block contains, reading it returns an error or rows, and rows that were read can be
// dumped and read again.
func FuzzItems(f *testing.F) {
	d := dumper{}
	d.item(itemBucket, []byte("key"))
	d.item(itemRecord, revision(1, 0, false))
	d.block = append(d.block, 1, 'v')
	f.Add(d.block)
	f.Add(append(d.block[:len(d.block):len(d.block)], itemEnd, 1, 9))
	f.Add([]byte{itemBucket, 4, 'm', 'e', 't', 'a', itemRecord, 1, 'a', 2, 'b', 'c', itemEnd, 1, 0})
	f.Fuzz(func(t *testing.T, block []byte) {
		b := New("")
		l := loader{w: &b.tx.w}
		err := l.items(block)
		b.publish()
		if err != nil {
			return
		}
		var dump bytes.Buffer
		if err := b.Freeze(3).Write(&dump); err != nil {
			t.Fatal(err)
		}
		again := New("")
		if index, err := again.Load(&dump); err != nil || index != 3 {
			t.Fatal(index, err)
		}
		if hashOf(t, b) != hashOf(t, again) {
			t.Error("read again it is something else")
		}
	})
}
