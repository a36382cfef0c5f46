package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/cluster/admission"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/replica"
	"fiveways.dev/fiveways/internal/replica/level"
	"fiveways.dev/fiveways/internal/replica/transport"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// Errors of a Node.
var (
	ErrNotMember = errors.New("cluster: the data folder is not that of a node of a cluster")
	ErrNoLeader  = errors.New("cluster: no other node leads")
)

const (
	// clientStream is the purpose of a stream that carries a client connection.
	clientStream = "client"
	// ControlStream is the purpose of a stream that carries requests for package control.
	ControlStream = "control"
	// renewalInterval is how often a node checks whether to renew its certificate.
	renewalInterval = time.Hour
	// leaderInterval is how often a node checks for a new leadership.
	leaderInterval = 100 * time.Millisecond
	// successorWithin is how old an entry may be that the log of the next leader lacks. Raft gives
	// it a second to catch up, and until then confirms nothing.
	successorWithin = time.Second
	// handOver is how long a stopping leader waits for another node to lead.
	handOver = 5 * time.Second
	// askAgain is how soon it asks again; Raft gives a transfer up after a second.
	askAgain = 1500 * time.Millisecond
)

// NodeOptions configures a Node.
type NodeOptions struct {
	FS       vfs.FS
	Dir      string       // of a replica (store.FoundReplica)
	Listener net.Listener // for connections of other nodes; closed with the node
	Address  string       // host:port at which other nodes reach Listener
	// Broker, Lead and Lose are as in Options.
	Broker func() broker.Options
	Lead   func(*broker.Broker, protocol.Lease) error
	Lose   func()
	// Passed serves the connection of a client that another node passes on, and returns when it is
	// closed.
	Passed func(from uint64, nc net.Conn)
	Log    *slog.Logger
}

// Node is a running node of a cluster. Any goroutine may call its methods.
type Node struct {
	o         NodeOptions
	cluster   uint64
	self      uint64
	identity  *admission.Identity
	transport *transport.Transport
	accepting sync.WaitGroup
	asked     *protocol.Inlet
	names     *names

	mu      sync.Mutex
	now     *running  // guarded by mu: nil while a snapshot is being installed, and at the end
	reached *reached  // guarded by mu
	led     time.Time // guarded by mu: when a leader was last known, or when the replica started
	err     error     // guarded by mu

	stop chan struct{} // closed by Close
	once sync.Once     // guards closing of stop
	done chan struct{} // closed when the node has ended
}

// running holds the parts of a node that are replaced when a snapshot is installed.
type running struct {
	st      *store.Store
	engine  *Engine
	replica *replica.Replica
	failed  chan error // capacity 1: the error of the engine
}

// Start starts a node on its data folder. Errors: ErrNotMember, those of store.Open and of
// broker.OpenReplica, ErrDiverged, level.ErrUnsupported.
func Start(o NodeOptions) (*Node, error) {
	if err := errors.Join(checkDiverged(o.Dir), checkLevel(o.FS, o.Dir)); err != nil {
		return nil, err
	}
	n := &Node{o: o, asked: protocol.NewInlet(o.Listener.Addr()), reached: newReached(0, 0), stop: make(chan struct{}), done: make(chan struct{})}
	var err error
	if n.names, err = openNames(o.FS, o.Dir); err != nil {
		o.Log.Warn("cluster: the names of the nodes cannot be read; each is unknown until its node connects", "err", err)
	}
	r, err := n.open()
	if err != nil {
		if n.transport != nil {
			n.transport.Close()
		}
		return nil, err
	}
	n.set(r)
	n.accepting.Go(func() {
		if err := n.transport.Serve(o.Listener); !errors.Is(err, transport.ErrClosed) {
			o.Log.Error("cluster: other nodes cannot connect any more", "err", err)
		}
	})
	go n.run(r)
	return n, nil
}

// open opens the store and starts the engine and the replica on it.
func (n *Node) open() (r *running, err error) {
	r = &running{failed: make(chan error, 1)}
	if r.st, err = store.Open(n.o.FS, n.o.Dir, store.Options{Sync: store.SyncAlways, Logger: n.o.Log}); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	if r.st.Raft() == nil {
		return nil, ErrNotMember
	}
	if n.transport == nil {
		if err := n.connect(r.st.Raft().State()); err != nil {
			return nil, err
		}
	}
	r.engine, err = NewEngine(Options{
		Store: r.st, FS: n.o.FS, Dir: n.o.Dir, Broker: n.o.Broker, Lead: n.o.Lead, Lose: n.o.Lose, Logger: n.o.Log,
		Fail: func(err error) { r.failed <- err },
	})
	if err != nil {
		return nil, err
	}
	r.replica, err = replica.Start(replica.Options{
		Store: r.st, Machine: r.engine, Send: n.transport.Send, Members: n.transport.SetPeers, Level: n.transport.SetLevel, Logger: n.o.Log,
		Newest: func(node uint64) uint64 {
			peer, _ := n.transport.Status(node)
			return peer.Levels.Newest
		},
		Dial: func(ctx context.Context, node uint64) (net.Conn, error) {
			return n.transport.Dial(ctx, node, transport.SnapshotStream)
		},
	})
	return r, err
}

// connect creates the transport to the other nodes.
func (n *Node) connect(id store.RaftState) error {
	var err error
	if n.identity, err = admission.Load(filepath.Join(n.o.Dir, identityDir), id.Cluster, id.Node); err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	n.renew()
	n.cluster, n.self = id.Cluster, id.Node
	n.transport = transport.New(transport.Options{
		Cluster: id.Cluster, Self: id.Node, Address: n.o.Address, Levels: level.Supported, TLS: n.identity.TLS(), Stream: n.stream, Log: n.o.Log,
		Join: func(nc *tls.Conn) error { return admission.Admit(nc, n.identity, host{n}) },
		Receive: func(m *pb.Message) {
			if r := n.current(); r != nil {
				r.replica.Step(m)
			}
		},
		Unreachable: func(node uint64) {
			if r := n.current(); r != nil {
				r.replica.Unreachable(node)
			}
		},
	})
	return nil
}

// renew renews the node's certificate if it is due.
func (n *Node) renew() {
	renewed, err := n.identity.Renew(time.Now())
	switch {
	case err != nil:
		n.o.Log.Error("cluster: the certificate of this node cannot be renewed", "err", err)
	case renewed:
		n.o.Log.Info("cluster: the certificate of this node was renewed")
	}
}

// stream serves a stream that another node has opened.
func (n *Node) stream(from uint64, purpose string, nc net.Conn) {
	switch purpose {
	case transport.SnapshotStream:
		r := n.current()
		if r == nil {
			return
		}
		if err := r.replica.Receive(from, nc); err != nil && !errors.Is(err, replica.ErrInstalled) {
			n.o.Log.Warn("cluster: a snapshot was not installed", "from", from, "err", err)
		}
	case clientStream:
		n.o.Passed(from, nc)
	case ControlStream:
		lent := protocol.Lend(nc)
		if n.asked.Give(context.Background(), lent) == nil {
			<-lent.Closed()
		}
	default:
		n.o.Log.Warn("cluster: another node has opened a stream that this one does not know", "from", from, "purpose", purpose)
	}
}

// run runs the node until it ends.
func (n *Node) run(r *running) {
	defer close(n.done)
	err := n.follow(r)
	for errors.Is(err, replica.ErrInstalled) {
		if r, err = n.open(); err == nil {
			n.set(r)
			err = n.follow(r)
		}
	}
	if errors.Is(err, replica.ErrDiverged) {
		err = errors.Join(err, markDiverged(n.o.Dir, err))
	}
	n.mu.Lock()
	n.err = err
	n.reached.end()
	n.mu.Unlock()
	n.asked.Close()
	n.transport.Close()
	n.accepting.Wait()
}

// follow waits until a replica has stopped and everything of it is closed. It returns the reason,
// or nil after Close.
func (n *Node) follow(r *running) (err error) {
	renewal := time.NewTicker(renewalInterval)
	defer renewal.Stop()
	leader := time.NewTicker(leaderInterval)
	defer leader.Stop()
	for ended := false; !ended; {
		select {
		case <-renewal.C:
			n.renew()
			continue
		case <-leader.C:
			n.reach()
			n.endSessions()
			n.readdress()
			continue
		case <-n.stop:
		case err = <-r.failed:
		case <-r.replica.Done():
			err = r.replica.Err()
		}
		ended = true
	}
	n.set(nil)
	if closing := r.close(); err == nil || closing != nil {
		err = errors.Join(err, closing)
	}
	return err
}

// readdress makes the log record the new address of a node, if this node leads. Nodes learn the
// address of a peer when it connects.
func (n *Node) readdress() {
	s := n.Status()
	r := n.current()
	if r == nil || s.Leader != n.self {
		return
	}
	for id, listed := range s.Addresses {
		now := s.Peers[id].Address
		if id == n.self {
			now = n.o.Address
		}
		if now == listed || now == "" {
			continue
		}
		r.replica.Add(id, now, func(err error) {
			if err == nil {
				n.o.Log.Info("cluster: a node has a new address", "node", id, "address", now, "before", listed)
			}
		})
		return
	}
}

// close closes everything that open opened.
func (r *running) close() (err error) {
	if r.replica != nil {
		r.replica.Close()
	}
	if r.engine != nil {
		err = r.engine.Close()
	}
	return errors.Join(err, r.st.Close())
}

func (n *Node) set(r *running) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.now, n.led = r, time.Now()
}

func (n *Node) current() *running {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.now
}

// Dial opens a stream to another node. Errors: those of transport.Transport.Dial.
func (n *Node) Dial(ctx context.Context, node uint64, purpose string) (net.Conn, error) {
	return n.transport.Dial(ctx, node, purpose)
}

// Asked returns a listener that accepts the streams that other nodes open for ControlStream.
func (n *Node) Asked() net.Listener { return n.asked }

// Done returns a channel that is closed when the node has ended, by Close or because of a failure
// (Err).
func (n *Node) Done() <-chan struct{} { return n.done }

// Err returns the error with which the node ended, or nil after Close.
func (n *Node) Err() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.err
}

// Close stops the node. A leader first transfers its leadership if there is another voter. Close
// may be called more than once.
func (n *Node) Close() error {
	n.once.Do(func() {
		n.GiveAway()
		close(n.stop)
	})
	<-n.done
	return n.Err()
}

// GiveAway transfers the leadership if this node leads and another voter is up, and waits for the
// transfer for at most handOver.
func (n *Node) GiveAway() {
	r := n.current()
	if r == nil || r.replica.Status().Leader != n.self {
		return
	}
	deadline := time.After(handOver)
	poll := time.NewTicker(replica.TickInterval)
	defer poll.Stop()
	for asked, again := uint64(0), time.Now(); ; {
		to, up := n.successor()
		if !up {
			return
		}
		if to != 0 && !time.Now().Before(again) {
			asked, again = to, time.Now().Add(askAgain)
			r.replica.Transfer(to)
		}
		select {
		case <-deadline:
			n.o.Log.Warn("cluster: no other node has taken the lead in time", "asked", asked)
			return
		case <-r.replica.Done():
			return
		case <-poll.C:
			if at := r.replica.Status().Leader; at != n.self && at != 0 {
				return
			}
		}
	}
}

// successor returns the connected voter whose log is furthest ahead, or 0 while the leader does not
// know any voter's position. up reports whether any other voter is connected.
func (n *Node) successor() (to uint64, up bool) {
	s := n.Status()
	match := uint64(0)
	for _, id := range s.Voters {
		if !s.Peers[id].Connected {
			continue
		}
		up = true
		if s.Match[id] > match && s.CanLead(id) == nil {
			to, match = id, s.Match[id]
		}
	}
	return to, up
}

// Status is the state of the cluster as a node knows it.
type Status struct {
	Cluster uint64
	replica.Status
	Peers map[uint64]transport.PeerStatus // other nodes
}

// CanLead returns an error if another node cannot take the lead from this one at once: it must have
// a vote, be connected, and keep up with the log. While a node is asked that cannot, nobody leads.
func (s *Status) CanLead(node uint64) error {
	switch {
	case node == s.Node:
		return nil
	case !slices.Contains(s.Voters, node):
		return fmt.Errorf("node %d has no vote yet", node)
	case !s.Peers[node].Connected:
		return fmt.Errorf("node %d is not connected to node %d, which leads", node, s.Node)
	case s.Behind[node] > successorWithin:
		return fmt.Errorf("node %d lacks %d entries of the log; it can lead once it has caught up", node, s.Last-min(s.Match[node], s.Last))
	}
	return nil
}

// Status returns a recent status.
func (n *Node) Status() Status {
	s := Status{Cluster: n.cluster, Peers: map[uint64]transport.PeerStatus{}}
	s.Node = n.self
	if r := n.current(); r != nil {
		s.Status = r.replica.Status()
	}
	for id := range s.Addresses {
		if p, ok := n.transport.Status(id); ok {
			s.Peers[id] = p
		}
	}
	return s
}

// Remove removes a node from the cluster forever (replica.Replica.Remove).
func (n *Node) Remove(ctx context.Context, node uint64) error {
	return n.change(ctx, func(r *replica.Replica, done func(error)) { r.Remove(node, done) })
}

// change asks for a change of the members, and again while another one is in progress: a node
// joins, or becomes a voter.
func (n *Node) change(ctx context.Context, what func(*replica.Replica, func(error))) error {
	for {
		err := n.ask(ctx, what)
		if !errors.Is(err, replica.ErrBusy) || !wait(ctx) {
			return err
		}
	}
}

func (n *Node) ask(ctx context.Context, what func(*replica.Replica, func(error))) error {
	r := n.current()
	if r == nil {
		return replica.ErrNotLeader
	}
	answer := make(chan error, 1)
	what(r.replica, func(err error) { answer <- err })
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-answer: // it came at the last moment
		return err
	default:
		return fmt.Errorf("cluster: the outcome is not known: %w", ctx.Err())
	}
}

// Transfer transfers the leadership to a node, if this node leads. It waits a moment for a node
// that cannot lead: just after an election the leader does not know the logs of all others.
// Errors: those of Status.CanLead.
func (n *Node) Transfer(ctx context.Context, node uint64) error {
	ctx, cancel := context.WithTimeout(ctx, successorWithin)
	defer cancel()
	for s := n.Status(); s.CanLead(node) != nil; s = n.Status() {
		if !wait(ctx) {
			return s.CanLead(node)
		}
	}
	if r := n.current(); r != nil {
		r.replica.Transfer(node)
	}
	return nil
}
