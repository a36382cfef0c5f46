package recipes

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/etcdd"
)

// BenchmarkFanOut measures puts that 100 watches on one stream receive. An operation is one put
// with its 100 events.
func BenchmarkFanOut(b *testing.B) {
	const watchers, value = 100, 100
	for name, start := range map[string]func(testing.TB) string{
		"Fiveways": func(t testing.TB) string { return brokertest.Run(t, "--etcd", "127.0.0.1:0").EtcdAddr() },
		"etcd":     func(t testing.TB) string { return etcdd.Start(t) },
	} {
		for _, writers := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/writers=%d", name, writers), func(b *testing.B) {
				addr := start(b)
				watch, write := benchClient(b, addr), benchClient(b, addr)
				stream, err := pb.NewWatchClient(watch.ActiveConnection()).Watch(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				for range watchers {
					wish := &pb.WatchCreateRequest{Key: []byte("k"), RangeEnd: []byte("l")}
					if err := stream.Send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: wish}}); err != nil {
						b.Fatal(err)
					}
					if r, err := stream.Recv(); err != nil || !r.Created {
						b.Fatal(r, err)
					}
				}
				b.ResetTimer()
				written := make(chan error, writers)
				var next atomic.Int64
				for range writers {
					go func() {
						for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
							if _, err := write.Put(context.Background(), fmt.Sprint("k", i%1000), string(make([]byte, value))); err != nil {
								written <- err
								return
							}
						}
						written <- nil
					}()
				}
				for seen := 0; seen < watchers*b.N; {
					r, err := stream.Recv()
					if err != nil {
						b.Fatal(err)
					}
					seen += len(r.Events)
				}
				for range writers {
					if err := <-written; err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(watchers*b.N)/b.Elapsed().Seconds(), "events/s")
			})
		}
	}
}

func benchClient(b *testing.B, addr string) *clientv3.Client {
	b.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{addr}, DialTimeout: patience})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	return c
}
