// Package timely knows Raft's messages that must not arrive late, because they can get a node
// elected during another node's lease.
//
// A leader that transfers its leadership orders another node to stand for election, and suspends
// its own lease for three seconds only. If the order is taken up later, or the vote request that
// follows from it, there may be two leases. So both are dropped once they are too old: Within is
// for the way, Waiting for the time until the receiver looks at it.
package timely

import (
	"time"

	pb "go.etcd.io/raft/v3/raftpb"
)

const (
	// Within is the age on arrival at which such a message is dropped.
	Within = time.Second
	// Waiting is how long it may wait after that.
	Waiting = 300 * time.Millisecond
)

// campaignTransfer is the context of the vote requests of a node that the leader has told to stand
// for election. The library does not export it.
const campaignTransfer = "CampaignTransfer"

// Is reports whether a message must not be late.
func Is(m *pb.Message) bool {
	return m.GetType() == pb.MsgTimeoutNow || m.GetType() == pb.MsgVote && string(m.GetContext()) == campaignTransfer
}
