package transport

import (
	"sync/atomic"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"

	"fiveways.dev/fiveways/internal/replica/level"
)

// peer is another node of the cluster.
type peer struct {
	id            uint64
	address       atomic.Pointer[string]
	listed        string // guarded by Transport.mu: its address from SetPeers
	control, bulk *link
	pinged        atomic.Pointer[pinged]      // nil until the first ping
	levels        atomic.Pointer[level.Range] // nil while its control link is down
	figures       figures
}

type figures struct {
	sent, dropped atomic.Uint64
	rtt, skew     atomic.Int64  // ns
	apart         atomic.Bool   // skew is too large
	pongs, dials  atomic.Uint64 // answered pings, and connections of the control link
}

// PeerStatus is what a node knows about a peer.
type PeerStatus struct {
	Address       string
	Connected     bool          // both links are up
	RTT           time.Duration // of the last ping, 0 = unknown
	Skew          time.Duration // of its wall clock, positive if ahead; exact to half of RTT
	Sent, Dropped uint64        // messages
	Levels        level.Range   // that it supports; empty while its control link is down
}

// link chooses the link for a message. All MsgApp use one link because their order matters: one
// without entries that overtook another would be rejected.
func (p *peer) link(m *pb.Message) *link {
	if m.GetType() == pb.MsgApp {
		return p.bulk
	}
	return p.control
}

// cut closes the connections of the links because of err; both dial again.
func (p *peer) cut(err error) {
	p.control.cut(err)
	p.bulk.cut(err)
}

func (p *peer) close() {
	p.control.close()
	p.bulk.close()
}
