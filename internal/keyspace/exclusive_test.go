package keyspace

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// Eight who count in one key, by looking and recording what they saw and one, beside others who put: nobody loses a count.
func TestExclusiveCounts(t *testing.T) {
	s, log := open(t, Options{})
	ctx := context.Background()
	record := func(entry []byte) error {
		_, err := log.Record(entry)
		return err
	}
	look := func() (*pb.InternalRaftRequest, error) {
		n, _ := strconv.Atoi(get(t, s, "n"))
		return &pb.InternalRaftRequest{Put: &pb.PutRequest{Key: []byte("n"), Value: strconv.AppendInt(nil, int64(n+1), 10)}}, nil
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				if x, err := s.Exclusive(ctx, look, record); err != nil || x.Err != nil {
					t.Error(x, err)
				}
			}
		})
		all.Go(func() {
			for range 50 {
				put(t, s, "other", "x")
			}
		})
	}
	all.Wait()
	if n := get(t, s, "n"); n != "400" {
		t.Errorf("counted to %s instead of 400", n)
	}
}

// What goes wrong in an Exclusive leaves the store as it was, and free for others.
func TestExclusiveFails(t *testing.T) {
	s, _ := open(t, Options{QuotaBytes: 1})
	ctx := context.Background()
	boom := errors.New("boom")
	never := func([]byte) error { t.Error("recorded"); return nil }
	if _, err := s.Exclusive(ctx, func() (*pb.InternalRaftRequest, error) { return nil, boom }, never); !errors.Is(err, boom) {
		t.Errorf("look failed: %v", err)
	}
	change := func() (*pb.InternalRaftRequest, error) {
		return &pb.InternalRaftRequest{Put: &pb.PutRequest{Key: []byte("k")}}, nil
	}
	if _, err := s.Exclusive(ctx, change, func([]byte) error { return boom }); !errors.Is(err, boom) || len(s.waiters.by) != 0 {
		t.Errorf("record failed: %v, %d wait", err, len(s.waiters.by))
	}
	nothing := func() (*pb.InternalRaftRequest, error) { return nil, nil }
	if x, err := s.Exclusive(ctx, nothing, func(entry []byte) error {
		if entry != nil {
			t.Error("an entry of nothing")
		}
		return nil
	}); x != nil || err != nil {
		t.Error(x, err)
	}
	// A change over the quota raises the alarm, which needs the store after the Exclusive.
	x, err := s.Exclusive(ctx, change, func(entry []byte) error { _, err := s.log.Record(entry); return err })
	if err != nil || x.Err == nil {
		t.Error(x, err)
	}
	if _, err := s.DeleteRange(ctx, &pb.DeleteRangeRequest{Key: []byte("k")}); err != nil {
		t.Error(err)
	}
}
