package cluster

import (
	"context"
	"net"
	"sync"
	"time"

	"fiveways/internal/replica"
)

// goodbye is how long a node that has led may take to end the sessions of clients that came by
// another one. One that hangs does not end them.
const goodbye = time.Second

// reigns has the time for which a node leads, as this node knows it.
type reigns struct {
	mu     sync.Mutex
	leader uint64          // guarded by mu: the last one known
	now    context.Context // guarded by mu: ends some time after another node leads
	end    context.CancelFunc
}

// of returns the reign of a node that leads now.
func (r *reigns) of(leader uint64) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	if leader != r.leader {
		r.close()
		r.leader = leader
		r.now, r.end = context.WithCancel(context.Background())
	}
	return r.now
}

// close ends the last reign in a while. mu is held, or nothing else is called any more.
func (r *reigns) close() {
	if r.end != nil {
		time.AfterFunc(goodbye, r.end)
	}
}

// watchReigns follows which node leads, until the node ends.
func (n *Node) watchReigns() {
	look := time.NewTicker(replica.TickInterval)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			if leader := n.leader(); leader != 0 {
				n.reigns.of(leader)
			}
		case <-n.done:
			n.reigns.close()
			return
		}
	}
}

// leader is the node that leads, 0 when none is known.
func (n *Node) leader() uint64 {
	if r := n.current(); r != nil {
		return r.replica.Status().Leader
	}
	return 0
}

// DialLeader opens a stream to the node that leads, for the connection of a client
// (NodeOptions.Passed). reign ends when another node leads, and the one that has led has had the
// time to end the session. Errors: ErrNoLeader, those of transport.Transport.Dial.
func (n *Node) DialLeader(ctx context.Context) (to net.Conn, reign context.Context, err error) {
	leader := n.leader()
	if leader == 0 || leader == n.self {
		return nil, nil, ErrNoLeader
	}
	reign = n.reigns.of(leader)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(reign, cancel)()
	to, err = n.transport.Dial(ctx, leader, clientStream)
	return to, reign, err
}
