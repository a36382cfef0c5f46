package keyspace

import (
	"context"
	"strings"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"fiveways.dev/fiveways/internal/keyspace/grants"
)

func putOf(key []byte, value string) *pb.InternalRaftRequest {
	return &pb.InternalRaftRequest{Put: &pb.PutRequest{Key: key, Value: []byte(value)}}
}

// The results of the puts of a batch arrive in order, and the puts are then visible. Nothing of the
// requests is kept.
func TestBatch(t *testing.T) {
	s, _ := open(t, Options{})
	b := s.NewBatch()
	key := []byte("a")
	var told []int64
	for range 3 {
		if !b.Add(grants.Info{}, putOf(key, "v"), func(x *Result, err error) {
			if err != nil || x.Err != nil {
				t.Error(x, err)
				return
			}
			told = append(told, x.Resp.(*pb.PutResponse).Header.Revision)
		}) {
			t.Fatal("a put was not taken")
		}
		key[0]++
	}
	if len(told) != 0 {
		t.Error("told before Flush")
	}
	b.Flush(true)
	b.Flush(true) // empty
	if len(told) != 3 || told[0] != 2 || told[2] != 4 {
		t.Errorf("told revisions %v", told)
	}
	for _, key := range []string{"a", "b", "c"} {
		if get(t, s, key) != "v" {
			t.Errorf("key %s is not there", key)
		}
	}
}

// Add refuses changes that would have to wait or would be refused: while an Exclusive runs, beyond
// the quota, and if they are too large.
func TestBatchTakesNot(t *testing.T) {
	s, _ := open(t, Options{QuotaBytes: 1 << 20, MaxRequestBytes: 1000})
	b := s.NewBatch()
	never := func(*Result, error) { t.Error("told of what was not taken") }
	for what, value := range map[string]string{"over the quota": strings.Repeat("x", 1<<20), "too large": strings.Repeat("x", 1000)} {
		if b.Add(grants.Info{}, putOf([]byte("k"), value), never) {
			t.Errorf("took what is %s", what)
		}
	}
	_, err := s.Exclusive(context.Background(), func() (*pb.InternalRaftRequest, error) {
		if b.Add(grants.Info{}, putOf([]byte("k"), ""), never) {
			t.Error("took a put while an Exclusive runs")
		}
		return nil, nil
	}, func([]byte) error { return nil })
	if err != nil || len(s.waiters.by) != 0 {
		t.Errorf("%v, %d wait", err, len(s.waiters.by))
	}
	b.Flush(false)
}

// No Exclusive can begin while puts are collected and not answered.
func TestBatchHoldsTheGate(t *testing.T) {
	s, _ := open(t, Options{})
	b := s.NewBatch()
	for range 2 {
		if !b.Add(grants.Info{}, putOf([]byte("k"), "v"), func(*Result, error) {}) {
			t.Fatal("a put was not taken")
		}
	}
	if s.gate.TryLock() {
		t.Error("an Exclusive may begin before Flush")
		s.gate.Unlock()
	}
	b.Flush(false)
	_, err := s.Exclusive(context.Background(), func() (*pb.InternalRaftRequest, error) {
		if got := get(t, s, "k"); got != "v" {
			t.Errorf("it saw %q", got)
		}
		return nil, nil
	}, func([]byte) error { return nil })
	if err != nil {
		t.Error(err)
	}
}
