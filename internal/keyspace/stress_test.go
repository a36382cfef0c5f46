package keyspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
)

// Readers of old revisions, watchers, dumps and defragmentation run concurrently with writers and
// compactions: no reader misses what it may see. (etcd's code crashes if a record is missing that
// the index refers to.)
func TestReadersBesideCompaction(t *testing.T) {
	s, _ := open(t, Options{Folder: t.TempDir()})
	ctx := context.Background()
	put(t, s, "k0", "k0")
	stop := make(chan struct{})
	var others sync.WaitGroup
	until := func(f func(rng *rand.Rand)) {
		others.Go(func() {
			rng := rand.New(rand.NewPCG(1, 1))
			for {
				select {
				case <-stop:
					return
				default:
					f(rng)
				}
			}
		})
	}
	for range 3 {
		until(func(rng *rand.Rand) {
			rev := max(s.KV().Rev()-rng.Int64N(60), 1)
			answer, err := s.Range(ctx, &pb.RangeRequest{Key: []byte("k"), RangeEnd: []byte("l"), Revision: rev})
			if err != nil && !errors.Is(err, mvcc.ErrCompacted) {
				t.Error(err)
			}
			for _, kv := range answer.GetKvs() {
				if kv.ModRevision > rev || !strings.HasPrefix(string(kv.Value), string(kv.Key)) {
					t.Errorf("at %d: %s of %d begins with %.10s", rev, kv.Key, kv.ModRevision, kv.Value)
				}
			}
		})
	}
	until(func(*rand.Rand) {
		_, write := s.Freeze()
		if err := write(io.Discard); err != nil {
			t.Error(err)
		}
	})
	until(func(rng *rand.Rand) {
		w := s.KV().NewWatchStream()
		defer w.Close()
		if _, err := w.Watch(ctx, 0, []byte("k"), []byte("l"), max(s.KV().Rev()-rng.Int64N(80), 1)); err != nil {
			t.Error(err)
		}
		<-w.Chan()
	})
	until(func(*rand.Rand) { _ = s.Defragment() })
	rng := rand.New(rand.NewPCG(2, 2))
	for i := range 1500 {
		key := fmt.Sprint("k", rng.IntN(30))
		put(t, s, key, key+strings.Repeat("v", rng.IntN(20_000)))
		if i%100 == 99 {
			if _, err := s.Compact(ctx, &pb.CompactionRequest{Revision: s.KV().Rev() - rng.Int64N(90)}); err != nil && !errors.Is(err, mvcc.ErrCompacted) {
				t.Error(err)
			}
		}
	}
	close(stop)
	others.Wait()
	if n := s.b.OpenReadTxN(); n != 0 {
		t.Errorf("%d readers are left", n)
	}
}
