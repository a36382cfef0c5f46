package keyspace

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	etcderrors "go.etcd.io/etcd/server/v3/etcdserver/errors"
)

// When the quota is used up, puts are refused, and the alarm is raised and recorded once. Deletes,
// reads and compaction still work. After a compaction and the end of the alarm there is space
// again.
func TestQuota(t *testing.T) {
	s, log := open(t, Options{QuotaBytes: 64 << 10})
	ctx := context.Background()
	var err error
	n := 0
	for ; err == nil && n < 1000; n++ {
		_, err = s.Put(ctx, &pb.PutRequest{Key: []byte("k"), Value: []byte(strings.Repeat("v", 1000))})
	}
	if !errors.Is(err, etcderrors.ErrNoSpace) || n < 40 {
		t.Fatalf("put %d: %v", n, err)
	}
	for name, refused := range map[string]error{
		"put":   second(s.Put(ctx, &pb.PutRequest{Key: []byte("k")})),
		"txn":   second(s.Txn(ctx, &pb.TxnRequest{Success: []*pb.RequestOp{{Request: &pb.RequestOp_RequestPut{RequestPut: &pb.PutRequest{Key: []byte("k")}}}}})),
		"lease": second(s.LeaseGrant(ctx, &pb.LeaseGrantRequest{TTL: 10})),
	} {
		if !errors.Is(refused, etcderrors.ErrNoSpace) {
			t.Errorf("%s: %v", name, refused)
		}
	}
	if alarms := s.Alarms(); len(alarms) != 1 || alarms[0].Alarm != pb.AlarmType_NOSPACE || alarms[0].MemberID != s.MemberID() {
		t.Fatalf("alarms %v", alarms)
	}
	if len(s.Status().Errors) != 1 {
		t.Errorf("status says %v", s.Status().Errors)
	}
	sameState(t, "log", restored(t, nil, log, 0), s)
	if _, err := s.DeleteRange(ctx, &pb.DeleteRangeRequest{Key: []byte("other")}); err != nil {
		t.Errorf("delete: %v", err)
	}
	if _, err := s.Compact(ctx, &pb.CompactionRequest{Revision: s.KV().Rev(), Physical: true}); err != nil {
		t.Fatal(err)
	}
	if err := s.Defragment(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(ctx, &pb.PutRequest{Key: []byte("k")}); !errors.Is(err, etcderrors.ErrNoSpace) {
		t.Errorf("a put while the alarm is on: %v", err)
	}
	off := &pb.AlarmRequest{Action: pb.AlarmRequest_DEACTIVATE, Alarm: pb.AlarmType_NOSPACE, MemberID: s.MemberID()}
	if answer, err := s.Alarm(ctx, off); err != nil || len(answer.Alarms) != 1 {
		t.Fatal(answer, err)
	}
	put(t, s, "k", "again")
	if get(t, s, "k") != "again" || len(s.Alarms()) != 0 {
		t.Error("no room after the alarm ended")
	}
}

// second returns the error of a call.
func second[T any](_ T, err error) error { return err }

// A change that is too large is refused before the log.
func TestTooLarge(t *testing.T) {
	s, log := open(t, Options{})
	before := len(log.entries)
	_, err := s.Put(context.Background(), &pb.PutRequest{Key: []byte("k"), Value: make([]byte, defaultMaxRequestBytes)})
	if !errors.Is(err, etcderrors.ErrRequestTooLarge) || len(log.entries) != before {
		t.Errorf("%v, %d entries", err, len(log.entries)-before)
	}
}

// Defragmentation and compaction free memory. Live data stays.
func TestMemoryComesBack(t *testing.T) {
	s, _ := open(t, Options{})
	for i := range 300 {
		put(t, s, fmt.Sprint("k", i%3), strings.Repeat("v", 20_000))
	}
	before := s.Status()
	if _, err := s.Compact(context.Background(), &pb.CompactionRequest{Revision: s.KV().Rev(), Physical: true}); err != nil {
		t.Fatal(err)
	}
	if after := s.Status(); after.DbSize > before.DbSize/20 || after.DbSizeInUse > 70_000 {
		t.Errorf("%d bytes, %d in use after compaction; %d before", after.DbSize, after.DbSizeInUse, before.DbSize)
	}
	for i := range 3 {
		if len(get(t, s, fmt.Sprint("k", i))) != 20_000 {
			t.Errorf("k%d is gone", i)
		}
	}
}
