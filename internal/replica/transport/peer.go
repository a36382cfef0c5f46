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
	listed        string // guarded by Transport.mu: its address by SetPeers
	control, bulk *link
	pinged        atomic.Pointer[pinged]      // nil until a ping has come
	levels        atomic.Pointer[level.Range] // nil while it has no control link to this node
	figures       figures
}

type figures struct {
	sent, dropped atomic.Uint64
	rtt, skew     atomic.Int64 // ns
	apart         atomic.Bool  // skew is too much
	heard         atomic.Int64 // ns since Transport.start; 0: never
}

// PeerStatus is what is known of a peer.
type PeerStatus struct {
	Address       string
	Connected     bool          // both links are there, and work as far as is known
	RTT           time.Duration // of the last ping, 0 = unknown
	Skew          time.Duration // of its wall clock, positive when it is ahead; exact to half of RTT
	Heard         time.Duration // how long ago something came from it last, -1 = never
	Sent, Dropped uint64        // messages
	Levels        level.Range   // that it supports; empty while it is not connected to this node
}

// link chooses the link of a message. All of MsgApp goes by one, for their order matters: one
// without entries that overtook another would be rejected.
func (p *peer) link(m *pb.Message) *link {
	if m.GetType() == pb.MsgApp {
		return p.bulk
	}
	return p.control
}

func (p *peer) close() {
	p.control.close()
	p.bulk.close()
}
