package broker

import (
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// benchBroker opens a broker on a real disk.
func benchBroker(b *testing.B, shards int, sync store.SyncMode) *Broker {
	br, err := Open(vfs.OS{}, b.TempDir(), Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Shards: shards, Sync: sync})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { br.Close() })
	return br
}

// worker is a benchmark session that waits for each operation.
type worker struct {
	*Session
	peek message.Peek
	done chan struct{}
}

func newWorker(b *testing.B, br *Broker) *worker {
	w := &worker{done: make(chan struct{}, 1)}
	s, err := br.NewSession(SessionOptions{User: "guest", VHost: "/", Sink: w})
	if err != nil {
		b.Fatal(err)
	}
	w.Session = s
	w.peek, _ = message.PeekProperties((&message.Properties{Flags: message.HasDeliveryMode, DeliveryMode: 2}).Append(nil))
	return w
}

func (w *worker) Deliver([]shard.Delivery)       {}
func (w *worker) Cancelled(*shard.Consumer)      {}
func (w *worker) Confirmed(uint64, uint64, bool) { w.done <- struct{}{} }

func (w *worker) message(q string) *shard.Publish {
	t, _ := w.Route(nil, []byte(q), &w.peek, nil)
	env := append(message.AppendEnvelopeHeader(make([]byte, 0, 140), "", q, w.peek.List), body100...)
	return &shard.Publish{Targets: t, Env: env, Persistent: true, TTL: -1}
}

var body100 = make([]byte, 100)

// post commits a transaction with one message; confirmed does the same with a publisher confirm.
func (w *worker) post(b *testing.B, q string) {
	tx := w.NewTx()
	tx.Publish(w.message(q))
	if err := tx.Commit(); err != nil {
		b.Error(err)
	}
}

func (w *worker) confirmed(_ *testing.B, q string) {
	p := w.message(q)
	p.Confirm = w
	w.Publish(p)
	w.Flush()
	<-w.done
}

func (w *worker) consume(b *testing.B, q string) {
	d, _, ok, err := w.Get(q, false)
	if err != nil || !ok {
		b.Error(ok, err)
		return
	}
	tx := w.NewTx()
	tx.Ack(d.Queue, nil, d.Handle, 1)
	if err := tx.Commit(); err != nil {
		b.Error(err)
	}
}

// BenchmarkSmallTx measures transactions of one step, and for comparison publishes with a confirm,
// from one and from many sessions on one shard.
func BenchmarkSmallTx(b *testing.B) {
	for _, k := range []struct {
		name string
		do   func(*worker, *testing.B, string)
		sync store.SyncMode
	}{
		{"confirm", (*worker).confirmed, store.SyncAlways}, {"post", (*worker).post, store.SyncAlways}, {"consume", (*worker).consume, store.SyncAlways},
		{"post-os", (*worker).post, store.SyncOS},
	} {
		for _, clients := range []int{1, 4, 16, 64} {
			b.Run(fmt.Sprintf("%s/%d", k.name, clients), func(b *testing.B) {
				br := benchBroker(b, 1, k.sync)
				w := newWorker(b, br)
				if _, err := w.DeclareQueue(QueueSpec{Name: "q", Durable: true, Policy: DefaultQueuePolicy()}); err != nil {
					b.Fatal(err)
				}
				if k.name == "consume" {
					for i := 0; i < b.N; {
						tx := w.NewTx()
						for ; i < b.N && i%10_000 < 9_999; i++ {
							tx.Publish(w.message("q"))
						}
						tx.Publish(w.message("q"))
						i++
						if err := tx.Commit(); err != nil {
							b.Fatal(err)
						}
					}
				}
				syncs := br.Stats().Log.Syncs
				b.ReportAllocs()
				b.ResetTimer()
				var left atomic.Int64
				left.Store(int64(b.N))
				var wg sync.WaitGroup
				for range clients {
					wg.Go(func() {
						w := newWorker(b, br)
						for left.Add(-1) >= 0 {
							k.do(w, b, "q")
						}
						w.Close()
					})
				}
				wg.Wait()
				b.ReportMetric(float64(b.N)/float64(max(br.Stats().Log.Syncs-syncs, 1)), "ops/sync")
			})
		}
	}
}

// BenchmarkLargeTx measures transactions with ten posts and ten acknowledgements on five queues.
func BenchmarkLargeTx(b *testing.B) {
	for _, shards := range []int{1, 3} {
		for _, clients := range []int{1, 16} {
			b.Run(fmt.Sprintf("%d shards/%d", shards, clients), func(b *testing.B) {
				br := benchBroker(b, shards, store.SyncAlways)
				var left atomic.Int64
				left.Store(int64(b.N))
				b.ReportAllocs()
				b.ResetTimer()
				var wg sync.WaitGroup
				for client := range clients {
					wg.Go(func() {
						w := newWorker(b, br)
						queues := make([]string, 5)
						for i := range queues {
							queues[i] = fmt.Sprintf("q%d.%d", client, i)
							w.DeclareQueue(QueueSpec{Name: queues[i], Durable: true, Policy: DefaultQueuePolicy()})
						}
						for left.Add(-1) >= 0 {
							tx := w.NewTx()
							for _, q := range queues {
								for range 2 {
									if d, _, ok, _ := w.Get(q, false); ok {
										tx.Ack(d.Queue, nil, d.Handle, 1)
									}
								}
								for range 2 {
									tx.Publish(w.message(q))
								}
							}
							if err := tx.Commit(); err != nil {
								b.Error(err)
							}
						}
						w.Close()
					})
				}
				wg.Wait()
			})
		}
	}
}
