package cluster

import (
	"context"
	"net"
	"time"

	"fiveways.dev/fiveways/internal/protocol"
)

// reached is a leadership of another node, as seen by the client connections that are passed on to
// it.
type reached struct {
	leader, term uint64
	over         context.Context // canceled when the leadership ends
	end          context.CancelFunc
}

// LeaderPatience is for how long clients wait while their node knows no leader.
const LeaderPatience = 10 * time.Second

// DialLeader opens a stream to the leader for a client connection (NodeOptions.Passed). The stream
// is closed some time after another leadership has begun: the former leader ends the sessions
// itself, unless it hangs. It is also closed when there has been no leader for LeaderPatience.
// Errors: ErrNoLeader, those of transport.Transport.Dial.
func (n *Node) DialLeader(ctx context.Context) (net.Conn, error) {
	to, known := n.reach()
	if !known || to.leader == n.self {
		return nil, ErrNoLeader
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(to.over, cancel)()
	nc, err := n.transport.Dial(ctx, to.leader, clientStream)
	if err != nil {
		return nil, err
	}
	return &leaderStream{nc, context.AfterFunc(to.over, func() { nc.Close() })}, nil
}

// farewell is how long a former leader may take to end the sessions of clients that other nodes
// have passed on.
const farewell = time.Second

// reach returns the newest leadership that this node knows of, and whether there is a leader now. A
// previous leadership is canceled after farewell.
func (n *Node) reach() (newest *reached, known bool) {
	s := n.Status()
	n.mu.Lock()
	defer n.mu.Unlock()
	if s.Leader != 0 {
		n.led = time.Now()
	}
	if s.Leader == 0 || n.reached.leader == s.Leader && n.reached.term == s.Term {
		return n.reached, s.Leader != 0
	}
	time.AfterFunc(farewell, n.reached.end)
	n.reached = newReached(s.Leader, s.Term)
	return n.reached, true
}

// endSessions cancels the last leadership once this node has known no leader for LeaderPatience. It
// may go on without this node, whose clients then cannot tell.
func (n *Node) endSessions() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.reached.leader != 0 && time.Since(n.led) >= LeaderPatience {
		n.reached.end()
		n.reached = newReached(0, 0)
	}
}

// Leaderless returns for how long this node has known no leader, or 0 while it knows one. A node
// that was removed will never know one: clients need not wait.
func (n *Node) Leaderless() time.Duration {
	if n.Status().Removed {
		return LeaderPatience
	}
	if _, known := n.reach(); known {
		return 0
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Since(n.led)
}

func newReached(leader, term uint64) *reached {
	r := &reached{leader: leader, term: term}
	r.over, r.end = context.WithCancel(context.Background())
	return r
}

// leaderStream is a stream that is closed when the leadership ends.
type leaderStream struct {
	net.Conn
	leave func() bool
}

// Close implements net.Conn.
func (s *leaderStream) Close() error {
	s.leave()
	return s.Conn.Close()
}

// CloseWrite tells the leader that no further data is sent. It also closes the sending side of the
// socket below TLS: there a session looks whether its client is still there while it reads nothing.
func (s *leaderStream) CloseWrite() error {
	err := protocol.CloseWrite(s.Conn)
	if over, ok := s.Conn.(interface{ NetConn() net.Conn }); ok && err == nil {
		err = protocol.CloseWrite(over.NetConn())
	}
	return err
}
