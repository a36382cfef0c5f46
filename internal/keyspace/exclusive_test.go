package keyspace

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	etcderrors "go.etcd.io/etcd/server/v3/etcdserver/errors"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/keyspace/grants"
	"fiveways.dev/fiveways/internal/statemachine"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// Eight goroutines increment one key by read and conditional write, while others put: no increment
// is lost.
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

// A failed Exclusive leaves the store unchanged, and unlocked.
func TestExclusiveFails(t *testing.T) {
	s, _ := open(t, Options{})
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
	if _, err := s.Exclusive(ctx, change, func([]byte) error { return nil }); !errors.Is(err, ErrNotRecorded) || len(s.waiters.by) != 0 {
		t.Errorf("kept out: %v, %d wait", err, len(s.waiters.by))
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
	if left := s.Alarms(); len(left) != 0 {
		t.Errorf("alarms %v", left)
	}
	if _, err := s.DeleteRange(ctx, &pb.DeleteRangeRequest{Key: []byte("k")}); err != nil {
		t.Error(err)
	}
}

// A change that would be refused when it is applied is refused before it is recorded with something
// else: beyond the quota, and then, with the alarm, everything that may need space. Deletes still
// work.
func TestExclusiveRefusedBefore(t *testing.T) {
	s, log := open(t, Options{QuotaBytes: 1})
	ctx := context.Background()
	record := func(entry []byte) error {
		_, err := log.Record(entry)
		return err
	}
	change := func(r *pb.InternalRaftRequest) func() (*pb.InternalRaftRequest, error) {
		return func() (*pb.InternalRaftRequest, error) { return r, nil }
	}
	write := &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: &pb.PutRequest{Key: []byte("k")}}}
	for _, r := range []*pb.InternalRaftRequest{
		{Put: &pb.PutRequest{Key: []byte("k")}}, {Txn: &pb.TxnRequest{Success: []*pb.RequestOp{write}}}, {LeaseGrant: &pb.LeaseGrantRequest{ID: 1, TTL: 9}},
	} {
		before := s.Index()
		if x, err := s.Exclusive(ctx, change(r), record); !errors.Is(err, etcderrors.ErrNoSpace) {
			t.Errorf("%v: %v %v", r, x, err)
		}
		if alarms := s.Alarms(); len(alarms) != 1 {
			t.Errorf("%v: alarms %v", r, alarms)
		}
		if s.KV().Rev() != 1 || s.Index() > before+1 {
			t.Errorf("%v: something was recorded", r)
		}
	}
	x, err := s.Exclusive(ctx, change(&pb.InternalRaftRequest{DeleteRange: &pb.DeleteRangeRequest{Key: []byte("k")}}), record)
	if err != nil || x.Err != nil {
		t.Error(x, err)
	}
	corrupt := &pb.AlarmRequest{Action: pb.AlarmRequest_ACTIVATE, Alarm: pb.AlarmType_CORRUPT, MemberID: s.MemberID()}
	if _, err := s.Alarm(ctx, corrupt); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Exclusive(ctx, change(&pb.InternalRaftRequest{DeleteRange: &pb.DeleteRangeRequest{Key: []byte("k")}}), record); !errors.Is(err, etcderrors.ErrCorrupt) {
		t.Error(err)
	}
}

// Permissions are checked before, too.
func TestExclusiveOfNobody(t *testing.T) {
	s, log := open(t, Options{})
	ctx := context.Background()
	for _, r := range []*pb.InternalRaftRequest{
		grants.Begin("root", 1), {AuthRoleAdd: &pb.AuthRoleAddRequest{Name: "root"}},
		{AuthUserGrantRole: &pb.AuthUserGrantRoleRequest{User: "root", Role: "root"}}, {AuthEnable: &pb.AuthEnableRequest{}},
	} {
		if x, err := s.Propose(ctx, r); err != nil || x.Err != nil {
			t.Fatal(r, x, err)
		}
	}
	look := func() (*pb.InternalRaftRequest, error) {
		return &pb.InternalRaftRequest{Put: &pb.PutRequest{Key: []byte("k")}}, nil
	}
	before := len(log.entries)
	for _, who := range []grants.Info{{}, {Username: "root", Revision: 1}, {Username: "eve", Revision: s.Grants().Revision()}} {
		if x, err := s.Exclusive(WithWho(ctx, who), look, func([]byte) error { return errors.New("recorded") }); err == nil || err.Error() == "recorded" {
			t.Errorf("%+v: %v %v", who, x, err)
		}
	}
	if len(log.entries) != before {
		t.Error("something was recorded")
	}
}

// The change of an Exclusive goes into the broker's log as a note of DoAll, and is answered when
// that returns.
func TestExclusiveWithNote(t *testing.T) {
	n, err := openNode(vfs.NewMem(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer n.close()
	session, err := n.b.NewSession(broker.SessionOptions{User: "guest", VHost: "/"})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for i := range 5 {
		x, err := n.Exclusive(context.Background(),
			func() (*pb.InternalRaftRequest, error) {
				return &pb.InternalRaftRequest{Put: &pb.PutRequest{Key: []byte("k"), Value: []byte(get(t, n.Store, "k") + "x")}}, nil
			},
			func(entry []byte) error {
				return session.DoAll(&broker.PiggybackedEntry{Machine: statemachine.Keys, Entry: entry})
			})
		if err != nil || x.Err != nil || x.Resp.(*pb.PutResponse).Header.Revision != int64(i+2) {
			t.Fatal(x, err)
		}
	}
	if get(t, n.Store, "k") != "xxxxx" {
		t.Errorf("k is %q", get(t, n.Store, "k"))
	}
}
