package store

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// BenchmarkAppend appends to a real disk with a bounded number of entries in flight.
func BenchmarkAppend(b *testing.B) {
	for _, mode := range []SyncMode{SyncAlways, SyncOS} {
		for _, size := range []int{100, 64 << 10} {
			b.Run(fmt.Sprintf("sync=%d/size=%d", mode, size), func(b *testing.B) {
				s := openBench(b, Options{Sync: mode})
				data := facts(string(bytes.Repeat([]byte{'x'}, size)))
				const inFlight = 1024
				slots := make(chan []Entry, inFlight)
				for range inFlight {
					slots <- make([]Entry, 1)
				}
				var wg sync.WaitGroup
				b.SetBytes(int64(size))
				b.ReportAllocs()
				index := uint64(0)
				for b.Loop() {
					index++
					group := <-slots
					group[0] = Entry{Shard: 1, Index: index, Data: data, Wait: mode.Wait()}
					wg.Add(1)
					s.Append(group, func(error) { slots <- group; wg.Done() })
				}
				wg.Wait()
				st := s.Stats()
				if st.Syncs > 0 {
					b.ReportMetric(float64(st.Groups)/float64(st.Syncs), "groups/sync")
				}
			})
		}
	}
}

// BenchmarkAppendAlone waits for every entry: it measures the latency of one write and one sync.
func BenchmarkAppendAlone(b *testing.B) {
	for _, mode := range []SyncMode{SyncAlways, SyncOS} {
		b.Run(fmt.Sprintf("sync=%d", mode), func(b *testing.B) {
			s := openBench(b, Options{Sync: mode})
			group := []Entry{{Shard: 1, Data: facts("small"), Wait: mode.Wait()}}
			done := make(chan error)
			for b.Loop() {
				group[0].Index++
				s.Append(group, func(err error) { done <- err })
				if err := <-done; err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRead reads a backlog of 100-byte facts in order, 100 per entry.
func BenchmarkRead(b *testing.B) {
	s := openBench(b, Options{Sync: SyncOS})
	const entries, perEntry = 2000, 100
	list := make([]string, perEntry)
	for i := range list {
		list[i] = string(bytes.Repeat([]byte{'x'}, 100))
	}
	data := facts(list...)
	for i := uint64(1); i <= entries; i++ {
		appendWait(b, s, Entry{Shard: 1, Index: i, Data: data})
	}
	r := s.NewReader(1)
	n := 0
	for b.Loop() {
		if _, err := r.Read(uint64(n/perEntry%entries+1), uint32(n%perEntry)); err != nil {
			b.Fatal(err)
		}
		n++
	}
}

func BenchmarkBody(b *testing.B) {
	s := openBench(b, Options{Sync: SyncOS})
	const entries = 20000
	for i := uint64(1); i <= entries; i++ {
		appendWait(b, s, entry(1, i, 500, false))
	}
	var dst []byte
	i := uint64(0)
	for b.Loop() {
		var err error
		if dst, err = s.Body(Pos{1, i*7919%entries + 1, 0}, dst[:0]); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

func BenchmarkRelease(b *testing.B) {
	s := openBench(b, Options{Sync: SyncOS, SegmentBytes: 64 << 10})
	const entries = 20000
	for i := uint64(1); i <= entries; i++ {
		appendWait(b, s, entry(1, i, 500, false))
	}
	i := uint64(0)
	for b.Loop() {
		s.Release(1, i%entries+1, 1)
		i++
	}
}

func openBench(b *testing.B, o Options) *Store {
	b.Helper()
	s, err := Open(vfs.OS{}, b.TempDir(), quiet(o))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { closeStore(b, s) })
	return s
}
