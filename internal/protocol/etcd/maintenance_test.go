package etcd

import (
	"bytes"
	"crypto/sha256"
	"io"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

func TestStatus(t *testing.T) {
	n := newNode(t, Options{})
	c := dial(t, n.addr)
	if _, err := c.Put(t.Context(), "a", "1"); err != nil {
		t.Fatal(err)
	}
	s, err := c.Status(t.Context(), n.addr)
	if err != nil {
		t.Fatal(err)
	}
	if s.Version != etcdVersion || s.Leader != s.Header.MemberId || s.RaftIndex == 0 || s.RaftIndex != s.RaftAppliedIndex || s.DbSize == 0 || len(s.Errors) != 0 {
		t.Errorf("%v", s)
	}
}

func TestHashes(t *testing.T) {
	n := newNode(t, Options{})
	c := dial(t, n.addr)
	put, err := c.Put(t.Context(), "a", "1")
	if err != nil {
		t.Fatal(err)
	}
	before, err := c.HashKV(t.Context(), n.addr, put.Header.Revision)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Put(t.Context(), "a", "2"); err != nil {
		t.Fatal(err)
	}
	again, err := c.HashKV(t.Context(), n.addr, put.Header.Revision)
	if err != nil || again.Hash != before.Hash {
		t.Errorf("the past has changed: %v, then %v, %v", before, again, err)
	}
	now, err := c.HashKV(t.Context(), n.addr, 0)
	if err != nil || now.Hash == before.Hash {
		t.Errorf("the present is the past: %v, %v", now, err)
	}
	if _, err := c.HashKV(t.Context(), n.addr, 99); err != rpctypes.ErrFutureRev {
		t.Errorf("the future: %v", err)
	}
	if h, err := pb.NewMaintenanceClient(c.ActiveConnection()).Hash(t.Context(), &pb.HashRequest{}); err != nil || h.Hash == 0 {
		t.Errorf("%v, %v", h, err)
	}
}

// A snapshot has the announced length, and the hash matches its bytes.
func TestSnapshot(t *testing.T) {
	c := dial(t, newNode(t, Options{}).addr)
	if _, err := c.Put(t.Context(), "a", string(make([]byte, 100<<10))); err != nil {
		t.Fatal(err)
	}
	stream, err := pb.NewMaintenanceClient(c.ActiveConnection()).Snapshot(t.Context(), &pb.SnapshotRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var file []byte
	parts, last := 0, uint64(0)
	for {
		part, err := stream.Recv()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if parts > 0 && part.RemainingBytes > last {
			t.Errorf("%d bytes left, then %d", last, part.RemainingBytes)
		}
		if part.Version != clusterVersion {
			t.Errorf("part %d is of version %q", parts, part.Version)
		}
		last = part.RemainingBytes
		file = append(file, part.Blob...)
		parts++
	}
	split := len(file) - sha256.Size
	if sum := sha256.Sum256(file[:max(split, 0)]); parts < 3 || last != 0 || !bytes.Equal(sum[:], file[split:]) {
		t.Errorf("%d bytes in %d parts, %d left, and a sum that is not theirs", len(file), parts, last)
	}
}

func TestWhatOneNodeCannotDo(t *testing.T) {
	n := newNode(t, Options{NodeName: "alone"})
	c := dial(t, n.addr)
	m := pb.NewMaintenanceClient(c.ActiveConnection())
	members := pb.NewClusterClient(c.ActiveConnection())
	list, err := c.MemberList(t.Context())
	if err != nil || len(list.Members) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	self := list.Members[0]
	if self.Name != "alone" || len(self.ClientURLs) != 1 || self.ClientURLs[0] != "http://"+n.addr || self.ID != list.Header.MemberId || self.IsLearner {
		t.Errorf("%v", self)
	}
	downgrade := func(action pb.DowngradeRequest_DowngradeAction, version string) func() error {
		return func() error {
			_, err := m.Downgrade(t.Context(), &pb.DowngradeRequest{Action: action, Version: version})
			return err
		}
	}
	for name, tc := range map[string]struct {
		do   func() error
		want error
	}{
		"move to itself":     {func() error { _, err := c.MoveLeader(t.Context(), self.ID); return err }, nil},
		"move to a stranger": {func() error { _, err := c.MoveLeader(t.Context(), 1); return err }, rpctypes.ErrGRPCBadLeaderTransferee},
		"add":                {func() error { _, err := c.MemberAdd(t.Context(), []string{"http://127.0.0.1:1"}); return err }, errOneMember},
		"add nonsense": {func() error {
			_, err := members.MemberAdd(t.Context(), &pb.MemberAddRequest{PeerURLs: []string{"127.0.0.1"}})
			return err
		}, rpctypes.ErrGRPCMemberBadURLs},
		"remove the last":   {func() error { _, err := c.MemberRemove(t.Context(), self.ID); return err }, rpctypes.ErrGRPCMemberNotEnoughStarted},
		"remove a stranger": {func() error { _, err := c.MemberRemove(t.Context(), 1); return err }, rpctypes.ErrGRPCMemberNotFound},
		"update": {func() error {
			_, err := c.MemberUpdate(t.Context(), self.ID, []string{"http://127.0.0.1:1"})
			return err
		}, errOneMember},
		"update a stranger":  {func() error { _, err := c.MemberUpdate(t.Context(), 1, []string{"http://127.0.0.1:1"}); return err }, rpctypes.ErrGRPCMemberNotFound},
		"promote":            {func() error { _, err := c.MemberPromote(t.Context(), self.ID); return err }, rpctypes.ErrGRPCMemberNotLearner},
		"downgrade":          {downgrade(pb.DowngradeRequest_ENABLE, "3.4.0"), rpctypes.ErrGRPCInvalidDowngradeTargetVersion},
		"downgrade nonsense": {downgrade(pb.DowngradeRequest_VALIDATE, "x"), rpctypes.ErrGRPCWrongDowngradeVersionFormat},
		"downgrade no more":  {downgrade(pb.DowngradeRequest_CANCEL, ""), rpctypes.ErrGRPCNoInflightDowngrade},
	} {
		if err := tc.do(); rpctypes.ErrorDesc(rpctypes.Error(err)) != rpctypes.ErrorDesc(rpctypes.Error(tc.want)) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
	}
}
