package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/replica"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

var quiet = slog.New(slog.DiscardHandler)

// TestLoseAfterClose checks that an engine that was closed does not begin again when it learns that
// the leadership is over.
func TestLoseAfterClose(t *testing.T) {
	fs := vfs.NewMem()
	enginetest.Must(t, store.FoundReplica(fs, "/data", replica.Founding(1, 1, "node1:7000")))
	st, err := store.Open(fs, "/data", store.Options{Logger: quiet})
	enginetest.Must(t, err)
	defer st.Close()
	begun := 0
	e, err := NewEngine(Options{Store: st, FS: fs, Dir: "/data", Logger: quiet, Broker: func() broker.Options {
		begun++
		return broker.Options{Logger: quiet, DiskFreeLimit: -1}
	}})
	enginetest.Must(t, err)
	enginetest.Must(t, e.Close())
	restored := make(chan struct{})
	e.Lose(func() { close(restored) })
	<-restored
	if begun != 1 {
		t.Errorf("it has begun %d times", begun)
	}
}

// node is a node of a cluster within one process.
type node struct {
	fs      *vfs.Mem
	st      *store.Store
	engine  *Engine
	replica *replica.Replica

	differs  atomic.Bool // Sum returns a wrong hash
	compared [8]atomic.Int64

	mu      sync.Mutex
	leads   *broker.Broker
	lease   protocol.Lease       // of the leadership in leads
	clients []*enginetest.Client // sessions on leads
}

// trio is a cluster of three nodes, for use in a bubble of synctest.
type trio struct {
	t     *testing.T
	nodes [3]*node

	mu  sync.Mutex
	cut map[uint64]bool // isolated nodes
}

func newTrio(t *testing.T) *trio {
	tr := &trio{t: t, cut: map[uint64]bool{}}
	addresses := map[uint64]string{1: "node1:7000", 2: "node2:7000", 3: "node3:7000"}
	for i := range tr.nodes {
		tr.nodes[i] = &node{fs: vfs.NewMem()}
		enginetest.Must(t, store.FoundReplica(tr.nodes[i].fs, "/data", replica.FoundingWith(1, uint64(i+1), addresses)))
	}
	for i := range tr.nodes {
		tr.start(i)
	}
	t.Cleanup(func() {
		for i := range tr.nodes {
			tr.stop(i)
		}
	})
	return tr
}

// start starts a node from its disk.
func (tr *trio) start(i int) {
	tr.t.Helper()
	n := tr.nodes[i]
	var err error
	n.st, err = store.Open(n.fs, "/data", store.Options{SegmentBytes: 16 << 10, Logger: quiet})
	enginetest.Must(tr.t, err)
	n.engine, err = NewEngine(Options{
		Store: n.st, FS: n.fs, Dir: "/data", Broker: func() broker.Options {
			return broker.Options{Logger: quiet, DiskFreeLimit: -1, Shards: 2, CheckpointBytes: 4 << 10}
		},
		Lead: n.lead, Lose: n.lose, Fail: func(err error) { tr.t.Errorf("node %d: %v", i+1, err) },
		CheckpointBytes: 4 << 10, Logger: quiet,
	})
	enginetest.Must(tr.t, err)
	r, err := replica.Start(replica.Options{Store: n.st, Machine: &watched{n.engine, n}, Send: tr.sender(uint64(i + 1)), Dial: noDial, Logger: quiet})
	enginetest.Must(tr.t, err)
	tr.mu.Lock()
	n.replica = r
	tr.mu.Unlock()
}

// stop stops a node.
func (tr *trio) stop(i int) {
	n := tr.nodes[i]
	tr.mu.Lock()
	r := n.replica
	n.replica = nil
	tr.mu.Unlock()
	r.Close()
	if err := r.Err(); !errors.Is(err, replica.ErrStopped) && !n.differs.Load() {
		tr.t.Errorf("node %d: %v", i+1, err)
	}
	enginetest.Must(tr.t, errors.Join(n.engine.Close(), n.st.Close()))
}

func noDial(context.Context, uint64) (net.Conn, error) { return nil, errors.New("no snapshots here") }

func (n *node) lead(b *broker.Broker, lease protocol.Lease) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.leads, n.lease = b, lease
	return nil
}

// lose closes all sessions.
func (n *node) lose() {
	n.mu.Lock()
	clients := n.clients
	n.leads, n.clients = nil, nil
	n.mu.Unlock()
	for _, c := range clients {
		c.Close()
	}
}

// watched is an Engine that counts its comparisons.
type watched struct {
	*Engine
	n *node
}

func (w *watched) Sum(part uint32, place [2]uint64) (uint64, bool) {
	sum, ok := w.Engine.Sum(part, place)
	if ok {
		w.n.compared[part].Add(1)
	}
	if w.n.differs.Load() {
		sum++
	}
	return sum, ok
}

// client returns a new session, or nil if the node does not lead.
func (n *node) client(t *testing.T) *enginetest.Client {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.leads == nil {
		return nil
	}
	c := enginetest.NewClient(t, n.leads)
	n.clients = append(n.clients, c)
	return c
}

func (tr *trio) sender(from uint64) func([]*pb.Message) {
	return func(ms []*pb.Message) {
		for _, m := range ms {
			tr.mu.Lock()
			to := tr.nodes[m.GetTo()-1].replica
			lost := to == nil || tr.cut[from] || tr.cut[m.GetTo()]
			tr.mu.Unlock()
			if !lost {
				to.Step(m)
			}
		}
	}
}

func (tr *trio) isolate(node int, on bool) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.cut[uint64(node+1)] = on
}

func (tr *trio) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// leader waits until a node other than the given one leads, and returns the node and a session on
// it.
func (tr *trio) leader(other int) (int, *enginetest.Client) {
	tr.t.Helper()
	for range 200 {
		tr.pass(replica.TickInterval)
		for i, n := range tr.nodes {
			if i == other {
				continue
			}
			if c := n.client(tr.t); c != nil {
				return i, c
			}
		}
	}
	tr.t.Fatal("no node leads")
	return 0, nil
}

// same compares the durable state of all nodes and the references to bodies in their stores. The
// leader must be idle.
func (tr *trio) same(leader int) {
	tr.t.Helper()
	tr.pass(time.Second)
	want, err := tr.nodes[leader].engine.broker.Hash()
	enginetest.Must(tr.t, err)
	for i, n := range tr.nodes {
		if i == leader {
			continue
		}
		n.engine.mu.Lock()
		r := n.engine.replica
		n.engine.mu.Unlock()
		if r == nil {
			tr.t.Fatalf("node %d does not follow", i+1)
		}
		if got := r.Hash(); got != want {
			tr.t.Errorf("the state of node %d is not that of the leader", i+1)
		}
		if got, want := n.st.Stats().Live, tr.nodes[leader].st.Stats().Live; got != want {
			tr.t.Errorf("node %d counts %d references to bodies, the leader %d", i+1, got, want)
		}
	}
}

// put publishes a persistent message and reports whether it was confirmed.
func put(c *enginetest.Client, queue, body string) bool {
	answer := make(answered, 1)
	c.Post("", queue, body, message.Properties{Flags: message.HasDeliveryMode, DeliveryMode: 2}, func(p *shard.Publish) { p.Confirm = answer })
	c.Flush()
	return <-answer
}

// answered receives the confirmation of a publish.
type answered chan bool

func (a answered) Confirmed(_, _ uint64, ok bool) { a <- ok }

// get takes the first message of a queue. ok is false if there is none.
func get(t *testing.T, c *enginetest.Client, queue string) (body string, ok bool) {
	t.Helper()
	d, _, ok, err := c.Get(queue, true)
	enginetest.Must(t, err)
	if !ok {
		return "", false
	}
	return string(d.Env.Body()), true
}

// TestFailover moves the leadership between nodes while messages are published and consumed. Every
// confirmed message is there exactly once, in order, on every leader, and all nodes have the same
// state.
func TestFailover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := newTrio(t)
		at, c := tr.leader(-1)
		c.Queue("q", nil)
		var want []string
		for round := range 6 {
			for i := range 20 {
				body := fmt.Sprintf("%d.%d", round, i)
				if put(c, "q", body) {
					want = append(want, body)
				}
			}
			if len(want) != 20*(round+1)-3*round {
				t.Fatalf("round %d: %d messages confirmed", round, len(want))
			}
			for range 3 {
				if body, ok := get(t, c, "q"); !ok || body != want[0] {
					t.Fatalf("round %d: got %q, %v; want %q", round, body, ok, want[0])
				}
				want = want[1:]
			}
			enginetest.Must(t, c.B.Sync())
			tr.same(at)
			was := at
			if round%2 == 0 {
				tr.isolate(was, true)
				at, c = tr.leader(was)
				tr.isolate(was, false)
				tr.pass(3 * time.Second)
			} else {
				to := (was + 1) % 3
				tr.nodes[was].replica.Transfer(uint64(to + 1))
				at, c = tr.leader(was)
			}
			tr.same(at)
		}
		var got []string
		for body, ok := get(t, c, "q"); ok; body, ok = get(t, c, "q") {
			got = append(got, body)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d messages are left, want %d", len(got), len(want))
		}
	})
}

// TestIsolatedLeader checks that an isolated leader confirms nothing, and that what it accepted is
// gone afterwards.
func TestIsolatedLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := newTrio(t)
		first, c := tr.leader(-1)
		c.Queue("q", nil)
		if !put(c, "q", "kept") {
			t.Fatal("not confirmed")
		}
		tr.isolate(first, true)
		confirmed := make(chan bool, 1)
		go func() { confirmed <- put(c, "q", "lost"+strings.Repeat(" ", 4<<10)) }() // a checkpoint is due
		second, c2 := tr.leader(first)
		if !put(c2, "q", "next") {
			t.Fatal("not confirmed by the new leader")
		}
		tr.isolate(first, false)
		tr.pass(3 * time.Second)
		if <-confirmed {
			t.Error("a leader that nobody heard has confirmed a message")
		}
		tr.same(second)
		for _, want := range []string{"kept", "next"} {
			if body, ok := get(t, c2, "q"); !ok || body != want {
				t.Errorf("got %q, %v; want %q", body, ok, want)
			}
		}
		if body, ok := get(t, c2, "q"); ok {
			t.Errorf("there is more: %q", body)
		}
	})
}

// TestLease checks that an isolated leader gives nothing to its clients once other nodes may lead,
// even before it knows that it has lost the leadership.
func TestLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := newTrio(t)
		first, c := tr.leader(-1)
		c.Queue("q", nil)
		for _, body := range []string{"one", "two"} {
			if !put(c, "q", body) {
				t.Fatal("not confirmed")
			}
		}
		tr.pass(time.Second)
		if !tr.nodes[first].lease() {
			t.Fatal("a leader whom the others hear may give nothing to clients")
		}
		tr.isolate(first, true)
		tr.pass(800 * time.Millisecond) // leaseFor, plus the last heartbeat
		if tr.nodes[first].client(t) == nil {
			t.Fatal("it has lost the lead already: the test shows nothing")
		}
		var lost atomic.Bool // the servers of clients know
		c.B.WhenLost(func() { lost.Store(true) })
		gave := make(chan bool, 1)
		go func(lease protocol.Lease) {
			if lease() {
				t.Error("it may give answers to clients")
			}
			gave <- lost.Load()
		}(tr.nodes[first].lease)
		tr.leader(first)
		tr.isolate(first, false)
		tr.pass(3 * time.Second)
		if !<-gave {
			t.Error("clients may be told that the lead is lost before their sessions are abandoned")
		}
	})
}

// TestCompare checks that the nodes compare all parts of their states while these change, and that
// a node whose state differs stops with an error.
func TestCompare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := newTrio(t)
		at, c := tr.leader(-1)
		for i := range 60 {
			c.Queue(fmt.Sprint("q", i%4), nil)
			for range i {
				put(c, fmt.Sprint("q", i%4), "text")
			}
			if i%3 == 0 {
				get(t, c, fmt.Sprint("q", i%4))
			}
			tr.pass(time.Second)
		}
		other := (at + 1) % 3
		for part := range 3 {
			if tr.nodes[other].compared[part].Load() == 0 {
				t.Errorf("part %d was never compared", part)
			}
		}
		tr.nodes[other].differs.Store(true)
		put(c, "q0", "text")
		tr.pass(2 * compareInterval)
		select {
		case <-tr.nodes[other].replica.Done():
		default:
			t.Fatal("a node that differs goes on")
		}
		if err := tr.nodes[other].replica.Err(); !errors.Is(err, replica.ErrDiverged) {
			t.Errorf("it stops with %v", err)
		}
		if !put(c, "q0", "text") {
			t.Error("the others do not go on")
		}
	})
}

// TestStoppedNodes stops each node in turn, including the leader, and restarts it from its disk.
func TestStoppedNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := newTrio(t)
		at, c := tr.leader(-1)
		c.Queue("q", nil)
		var want []string
		for round := range 6 {
			for i := range 10 {
				body := fmt.Sprintf("%d.%d", round, i)
				if !put(c, "q", body) {
					t.Fatalf("%s was not confirmed", body)
				}
				want = append(want, body)
			}
			down := (at + round%3) % 3
			tr.stop(down)
			at, c = tr.leader(down)
			if !put(c, "q", "while one is down") {
				t.Fatal("two of three nodes confirm nothing")
			}
			want = append(want, "while one is down")
			if body, ok := get(t, c, "q"); !ok || body != want[0] {
				t.Fatalf("got %q, %v; want %q", body, ok, want[0])
			}
			want = want[1:]
			tr.start(down)
			tr.pass(3 * time.Second)
			tr.same(at)
		}
		var got []string
		for body, ok := get(t, c, "q"); ok; body, ok = get(t, c, "q") {
			got = append(got, body)
		}
		if !slices.Equal(got, want) {
			t.Errorf("left are %q, want %q", got, want)
		}
	})
}
