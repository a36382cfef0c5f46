package keyspace

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// Dumps are taken while a compaction runs: at its beginning, between its batches and after it. A
// store restored from any of them and the later entries has the same keys at once, and
// byte-identical buckets when its own compaction has progressed as far.
func TestDumpsAmidCompaction(t *testing.T) {
	s, log := open(t, Options{})
	ctx := context.Background()
	for i := range 4000 {
		put(t, s, fmt.Sprint("k", i%50), fmt.Sprint(i))
	}
	if _, err := s.DeleteRange(ctx, &pb.DeleteRangeRequest{Key: []byte("k1"), RangeEnd: []byte("k2")}); err != nil {
		t.Fatal(err)
	}
	x, err := s.Propose(ctx, &pb.InternalRaftRequest{Compaction: &pb.CompactionRequest{Revision: 3900}})
	if err != nil || x.Err != nil {
		t.Fatal(x, err)
	}
	type moment struct {
		dump  bytes.Buffer
		index int
		rows  int64
	}
	var moments []*moment
	for done := false; !done; {
		select {
		case <-x.Physc:
			done = true
		default:
		}
		if n := len(moments); n > 0 && !done && moments[n-1].rows == s.b.SizeInUse() {
			continue
		}
		m := &moment{index: len(log.entries), rows: s.b.SizeInUse()}
		_, write := s.Freeze()
		if err := write(&m.dump); err != nil {
			t.Fatal(err)
		}
		moments = append(moments, m)
	}
	if len(moments) < 3 {
		t.Errorf("the compaction was seen at %d moments only", len(moments))
	}
	put(t, s, "after", "1")
	compactAll(t, s)
	want, _, _ := s.Hash(ctx)
	for i, m := range moments {
		again := restored(t, &m.dump, log, m.index)
		sameState(t, fmt.Sprint("moment ", i), again, s)
		again.log = &fakeLog{store: again}
		compactAll(t, again)
		if got, _, _ := again.Hash(ctx); got != want {
			t.Errorf("moment %d: hash %08x, want %08x", i, got, want)
		}
	}
}

// compactAll waits for earlier compactions, and starts one: a compaction of an already compacted
// revision is refused when that is done.
func compactAll(t *testing.T, s *Store) {
	t.Helper()
	x, err := s.Propose(context.Background(), &pb.InternalRaftRequest{Compaction: &pb.CompactionRequest{Revision: 3950}})
	if err != nil || x.Physc == nil {
		t.Fatal(x, err)
	}
	<-x.Physc
}
