package queue

import (
	"runtime"
	"testing"
)

// fill publishes n persistent messages in batches of 16 and packs them as it goes, like a shard
// under memory pressure. Of the sizes of consecutive messages, as many as differ are different.
func fill(s *State, n, differ int) {
	body := env("0123456789abcdef")
	for i := range n {
		s.Publish(&Item{Index: uint64(i/16) + 1, Sub: uint32(i % 16), Size: uint32(100 + i%differ), Flags: Persistent, Env: body})
		if i%4096 == 0 {
			s.Cool(1<<62, 0, nil)
		}
	}
	s.Cool(1<<62, 0, nil)
}

// BenchmarkCycle publishes, delivers and settles one message, with the queue at different depths.
func BenchmarkCycle(b *testing.B) {
	for _, depth := range []struct {
		name string
		n    int
	}{{"empty", 0}, {"deep100", 100}, {"deep10000", 10000}} {
		b.Run(depth.name, func(b *testing.B) {
			s := new(State)
			body := env("0123456789abcdef")
			for range depth.n {
				s.Publish(&Item{Size: 16, Flags: Persistent, Env: body})
			}
			b.ReportAllocs()
			var it Item
			for i := 0; b.Loop(); i++ {
				it = Item{Index: uint64(i), Size: 16, Flags: Persistent, Env: body}
				s.Publish(&it)
				h := s.Next(0).Handle
				if _, ok := s.Settle(h); !ok {
					b.Fatal("lost")
				}
			}
		})
	}
}

// BenchmarkSettleRange publishes and delivers 200 messages and settles them at once; ns/op is per
// message.
func BenchmarkSettleRange(b *testing.B) {
	s := new(State)
	body := env("0123456789abcdef")
	b.ReportAllocs()
	n := 0
	var first Handle
	for b.Loop() {
		s.Publish(&Item{Size: 16, Flags: Persistent, Env: body})
		h := s.Next(0).Handle
		if n == 0 {
			first = h
		}
		if n++; n == 200 {
			if s.SettleRange(first, n, nil) != n {
				b.Fatal("lost")
			}
			n = 0
		}
	}
}

// BenchmarkDrainPacked delivers and settles messages of packed chunks.
func BenchmarkDrainPacked(b *testing.B) {
	s := new(State)
	b.ReportAllocs()
	for b.Loop() {
		it := s.Next(0)
		if it == nil {
			b.StopTimer()
			fill(s, 1_000_000, 3)
			b.StartTimer()
			it = s.Next(0)
		}
		s.Settle(it.Handle)
	}
}

// BenchmarkSnapshot measures Freeze, AppendTo and Restore with ten million packed messages.
func BenchmarkSnapshot(b *testing.B) {
	s := new(State)
	fill(s, 10_000_000, 3)
	snapshot := s.AppendTo(nil)
	b.Run("freeze", func(b *testing.B) {
		for b.Loop() {
			s.Freeze()
		}
	})
	b.Run("append", func(b *testing.B) {
		dst := make([]byte, 0, len(snapshot))
		f := s.Freeze()
		for b.Loop() {
			dst = f.AppendTo(dst[:0])
		}
	})
	b.Run("restore", func(b *testing.B) {
		for b.Loop() {
			if err := new(State).Restore(snapshot); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.ReportMetric(float64(len(snapshot))/1e7, "B/msg")
}

// BenchmarkPurge purges ten million packed messages at once.
func BenchmarkPurge(b *testing.B) {
	s := new(State)
	fill(s, 10_000_000, 3)
	snapshot := s.AppendTo(nil)
	for b.Loop() {
		b.StopTimer()
		if err := s.Restore(snapshot); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		s.Purge(nil, func(*Item) {})
	}
}

func heapBytes() int64 {
	for range 3 { // objects in a sync.Pool survive one collection, and their arrays another
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestPackedMemory checks what a message of a deep queue takes, also after a restore from a
// snapshot: 2 bytes if its neighbours are alike, 5 if their sizes differ.
func TestPackedMemory(t *testing.T) {
	const n = 1_000_000
	for _, c := range []struct{ differ, most int }{{1, 2}, {3, 5}} {
		before := heapBytes()
		s := new(State)
		fill(s, n, c.differ)
		packed := heapBytes() - before
		snapshot := s.AppendTo(nil)
		runtime.KeepAlive(s)

		s = nil
		before = heapBytes()
		restored := new(State)
		if err := restored.Restore(snapshot); err != nil {
			t.Fatal(err)
		}
		loaded := heapBytes() - before
		runtime.KeepAlive(snapshot)
		if restored.Ready() != n {
			t.Errorf("%d messages restored, want %d", restored.Ready(), n)
		}
		if most := int64(c.most * n); packed > most || loaded > most {
			t.Errorf("%d messages of %d sizes take %d bytes, restored %d, want at most %d", n, c.differ, packed, loaded, most)
		}
		t.Logf("%d sizes: bytes per message: packed %.2f, restored %.2f, snapshot %.2f",
			c.differ, float64(packed)/n, float64(loaded)/n, float64(len(snapshot))/n)
	}
}

// TestStragglersPinLittle settles all but one message in 256 after they were packed, and again
// while they are hot.
func TestStragglersPinLittle(t *testing.T) {
	const n = 256 * 1000
	for _, packFirst := range []bool{true, false} {
		before := heapBytes()
		s := new(State)
		for i := range n {
			s.Publish(&Item{Index: uint64(i + 1), Size: 10, Flags: Persistent, Env: env("0123456789")})
		}
		for s.Next(0) != nil {
		}
		if packFirst {
			s.Cool(n, 0, nil)
		}
		for seq := uint64(1); seq <= n; seq++ {
			if seq%256 != 7 {
				s.Settle(MakeHandle(0, seq))
			}
		}
		s.Cool(n, 0, nil)
		if s.HotBytes() > itemBytes*256 {
			t.Errorf("%d hot bytes left", s.HotBytes())
		}
		if got := heapBytes() - before; got > n/256*500 {
			t.Errorf("packed first %v: %d stragglers take %d bytes", packFirst, n/256, got)
		}
		if s.Unacked() != n/256 {
			t.Errorf("%d stragglers, want %d", s.Unacked(), n/256)
		}
		runtime.KeepAlive(s)
	}
}
