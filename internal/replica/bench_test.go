package replica

import (
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"

	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// BenchmarkReplicas appends groups of 64 KiB to three nodes in one process, each with its own
// directory on the same disk. The sub-benchmark's name gives the number of groups in flight.
func BenchmarkReplicas(b *testing.B) {
	for name, window := range map[string]int{"open=1": 1, "open=64": 64} {
		b.Run(name, func(b *testing.B) { benchmarkReplicas(b, window) })
	}
}

func benchmarkReplicas(b *testing.B, window int) {
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	replicas := make([]*Replica, 3)
	var started sync.WaitGroup
	started.Add(1)
	send := func(ms []*pb.Message) {
		started.Wait()
		for _, m := range ms {
			replicas[m.GetTo()-1].Step(m)
		}
	}
	lead := make(chan *texts, 3)
	for i := range replicas {
		dir := b.TempDir()
		if err := store.FoundReplica(vfs.OS{}, dir, FoundingWith(1, uint64(i+1), testAddresses(3))); err != nil {
			b.Fatal(err)
		}
		st, err := store.Open(vfs.OS{}, dir, store.Options{Logger: quiet})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { st.Close() })
		m := &counter{texts: texts{next: 1, store: st}, lead: lead}
		if replicas[i], err = Start(Options{Store: st, Machine: m, Send: send, Logger: quiet}); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(replicas[i].Close)
	}
	started.Done()
	var leader *texts
	select {
	case leader = <-lead:
	case <-time.After(10 * time.Second):
		b.Fatal("there is no leader")
	}
	data := make([]byte, 64<<10)
	data = append([]byte{0x80, 0x80, 4}, data...) // a fact of 64 KiB
	open := make(chan struct{}, window)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		open <- struct{}{}
		leader.mu.Lock()
		leader.log.Append([]store.Entry{{Shard: 1, Index: leader.next, Data: data}}, func(err error) {
			if err != nil {
				b.Error(err)
			}
			<-open
		})
		leader.next++
		leader.mu.Unlock()
	}
	for range window {
		open <- struct{}{}
	}
}

// counter is a machine without a state.
type counter struct {
	texts
	lead chan *texts
}

func (m *counter) Apply(store.RaftEntry, bool) {}

func (m *counter) Sum(uint32, [2]uint64) (uint64, bool) { return 0, false }

func (m *counter) Lead(log *Log) {
	m.texts.Lead(log)
	m.lead <- &m.texts
}
