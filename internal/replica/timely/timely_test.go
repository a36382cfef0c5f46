package timely

import (
	"testing"

	pb "go.etcd.io/raft/v3/raftpb"
)

func TestIs(t *testing.T) {
	for _, c := range []struct {
		kind    pb.MessageType
		context string
		want    bool
	}{
		{pb.MsgTimeoutNow, "", true}, {pb.MsgVote, campaignTransfer, true},
		{pb.MsgVote, "CampaignElection", false}, {pb.MsgPreVote, "", false}, {pb.MsgApp, "", false},
	} {
		m := &pb.Message{Type: c.kind.Enum(), Context: []byte(c.context)}
		if Is(m) != c.want {
			t.Errorf("%v %s must not be late: %t", c.kind, c.context, Is(m))
		}
	}
}
