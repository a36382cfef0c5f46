package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"
	"golang.org/x/time/rate"

	"fiveways.dev/fiveways/internal/replica/level"
)

const (
	dialPatience  = 2 * time.Second // to connect, with TLS and the hello
	writePatience = 5 * time.Second // for a peer to take a message
	pingInterval  = time.Second
	mostStrangers = 64 // connections whose other end is not yet known
)

// SnapshotStream is the purpose of a stream that carries a snapshot (replica.Options.Dial,
// replica.Replica.Receive).
const SnapshotStream = "snapshot"

// Errors of Dial.
var (
	ErrUnknownPeer = errors.New("transport: no such node")
	ErrClosed      = errors.New("transport: closed")
)

// Options are the identity of a node and the handlers of what it receives.
type Options struct {
	Cluster uint64
	Self    uint64      // this node's replica id
	Address string      // host:port of this node, as others reach it
	Levels  level.Range // that this node supports; a peer whose log is at another level is refused
	// TLS has the node's certificate (NodeName) and, as RootCAs and ClientCAs, only the cluster's
	// CA.
	TLS *tls.Config
	// Receive gets each Raft message on the goroutine of its connection, in the order of the link.
	// The connection reads no further while Receive runs. Receive may keep the message, but must
	// not change the data of its entries.
	Receive func(*pb.Message)
	// Unreachable is called when messages to a peer were dropped.
	Unreachable func(node uint64)
	// Stream gets each stream that a peer opens (Dial), on its own goroutine, and closes it. nil:
	// streams are refused.
	Stream func(from uint64, purpose string, nc net.Conn)
	// Join serves a connection of JoinProtocol on its own goroutine. When it returns, the
	// connection is closed and the error logged. The other end is unknown, so the connection has a
	// short deadline and counts against the limit on strangers. Join sets a later deadline once it
	// trusts the other end. nil: such connections are refused.
	Join func(nc *tls.Conn) error
	Now  func() time.Time // wall clock; nil: time.Now
	Log  *slog.Logger     // nil: no logging
}

// Transport is a node's end of the connections of its cluster.
type Transport struct {
	o      Options
	start  time.Time
	tick   time.Duration   // pingInterval, except in tests
	ctx    context.Context // until Close
	cancel context.CancelFunc
	level  atomic.Uint64 // of the log of this node

	mu        sync.Mutex
	peers     map[uint64]*peer         // guarded by mu
	highest   uint64                   // guarded by mu: of SetPeers
	accepted  map[net.Conn]uint64      // guarded by mu: by node, 0 = not yet known
	streams   map[*stream]uint64       // guarded by mu: of Dial, by node
	strangers int                      // guarded by mu: how many of accepted are not yet known
	lines     map[line]*rate.Sometimes // guarded by mu: when each may be logged again
	listeners []net.Listener           // guarded by mu
	running   sync.WaitGroup
}

// New returns a transport without peers.
func New(o Options) *Transport {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	t := &Transport{
		o: o, start: time.Now(), tick: pingInterval,
		peers: map[uint64]*peer{}, accepted: map[net.Conn]uint64{}, streams: map[*stream]uint64{}, lines: map[line]*rate.Sometimes{},
	}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	return t
}

// elapsed returns the time since New by the monotonic clock.
func (t *Transport) elapsed() time.Duration { return time.Since(t.start) }

// SetPeers sets the other nodes and their addresses, host:port. It closes the connections with
// nodes that are no longer among them. Only peers may connect, and nodes with an id above highest,
// the highest that this node knows: they were added while this node was behind, and may lead by
// now. A peer that has reported another address since (PeerStatus.Address) keeps it until its
// address here changes.
func (t *Transport) SetPeers(addresses map[uint64]string, highest uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ctx.Err() != nil {
		return
	}
	t.highest = highest
	for id, p := range t.peers {
		if _, ok := addresses[id]; !ok && id <= highest {
			p.close()
			delete(t.peers, id)
			t.drop(id)
		}
	}
	for id, address := range addresses {
		p := t.peers[id]
		if p == nil && id != t.o.Self {
			p = t.add(id, address)
		}
		if p != nil && p.listed != address {
			p.listed = address
			p.address.Store(&address)
		}
	}
}

// SetLevel sets the level of this node's log. Peers that do not support it are refused when they
// connect.
func (t *Transport) SetLevel(level uint64) { t.level.Store(level) }

// add starts the links to a peer. mu is held.
func (t *Transport) add(id uint64, address string) *peer {
	p := &peer{id: id}
	p.address.Store(&address)
	p.control, p.bulk = newLink(t, p, controlLink), newLink(t, p, bulkLink)
	t.peers[id] = p
	t.running.Go(p.control.run)
	t.running.Go(p.bulk.run)
	t.running.Go(func() { t.watch(p) })
	return p
}

// drop closes the connections that a node has opened, and the streams to it, and returns their
// number. mu is held. Each close writes a farewell, so the caller does not wait for it.
func (t *Transport) drop(node uint64) int {
	var all []net.Conn
	for nc, from := range t.accepted {
		if from == node {
			all = append(all, nc)
		}
	}
	for s, to := range t.streams {
		if to == node {
			all = append(all, s.Conn)
		}
	}
	t.running.Go(func() {
		for _, nc := range all {
			nc.Close()
		}
	})
	return len(all)
}

func (t *Transport) peer(id uint64) *peer {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.peers[id]
}

// Send queues each message for the node that it names. It never blocks. It drops a message that
// cannot be queued or whose node is not a peer.
func (t *Transport) Send(messages []*pb.Message) {
	for _, m := range messages {
		p := t.peer(m.GetTo())
		if p == nil {
			continue
		}
		if !p.link(m).send(m) {
			p.figures.dropped.Add(1)
			t.o.Unreachable(p.id)
		}
	}
}

// Status returns the status of a peer; ok is false if there is no such peer.
func (t *Transport) Status(node uint64) (s PeerStatus, ok bool) {
	p := t.peer(node)
	if p == nil {
		return s, false
	}
	f := &p.figures
	s = PeerStatus{
		Address: *p.address.Load(), Connected: p.control.isConnected() && p.bulk.isConnected(),
		RTT: time.Duration(f.rtt.Load()), Skew: time.Duration(f.skew.Load()),
		Sent: f.sent.Load(), Dropped: f.dropped.Load(),
	}
	if levels := p.levels.Load(); levels != nil {
		s.Levels = *levels
	}
	return s, true
}

// Dial opens a stream to a peer, with a purpose that the peer's Options.Stream knows. It returns
// ErrUnknownPeer, ErrRefused, ErrClosed, or a network error. The stream is closed when the peer is
// removed or does not answer for ten seconds.
func (t *Transport) Dial(ctx context.Context, node uint64, purpose string) (net.Conn, error) {
	p := t.peer(node)
	if p == nil {
		return nil, fmt.Errorf("%w: %d", ErrUnknownPeer, node)
	}
	nc, err := t.dial(ctx, p, &hello{purpose: streamLink, stream: purpose})
	if err != nil {
		return nil, err
	}
	return t.keep(node, nc)
}

// stream is a stream of Dial.
type stream struct {
	*tls.Conn
	t *Transport
}

// keep records a stream until it is closed. It returns ErrClosed.
func (t *Transport) keep(node uint64, nc *tls.Conn) (net.Conn, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ctx.Err() != nil {
		nc.Close()
		return nil, ErrClosed
	}
	s := &stream{nc, t}
	t.streams[s] = node
	return s, nil
}

// Close implements net.Conn.
func (s *stream) Close() error {
	s.t.mu.Lock()
	delete(s.t.streams, s)
	s.t.mu.Unlock()
	return s.Conn.Close()
}

func (t *Transport) dial(ctx context.Context, to *peer, h *hello) (*tls.Conn, error) {
	if t.ctx.Err() != nil {
		return nil, ErrClosed
	}
	h.cluster, h.from, h.to, h.address = t.o.Cluster, t.o.Self, to.id, t.o.Address
	h.levels, h.level, h.clock = t.o.Levels, t.level.Load(), t.o.Now().UnixNano()
	d := tls.Dialer{
		NetDialer: &net.Dialer{KeepAliveConfig: keepAlive},
		Config:    dialing(t.o.TLS, t.o.Cluster, to.id),
	}
	nc, err := d.DialContext(ctx, "tcp", *to.address.Load())
	if err != nil {
		return nil, err
	}
	if err := greet(nc, h, dialPatience); err != nil {
		nc.Close()
		return nil, err
	}
	return nc.(*tls.Conn), nil
}

// keepAlive detects within about ten seconds that the other end of an idle connection is gone. It
// does nothing while sent data is not acknowledged, so watch does the rest.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: time.Second, Count: 5}

// line identifies a log line about a node; 0 is a connection whose node is unknown.
type line struct {
	node uint64
	text string
}

// complain logs a line about a node, and the same line at most once in ten seconds.
func (t *Transport) complain(node uint64, text string, args ...any) {
	const silence = 10 * time.Second
	t.mu.Lock()
	l := line{node, text}
	some := t.lines[l]
	if some == nil {
		some = &rate.Sometimes{First: 1, Interval: silence}
		t.lines[l] = some
	}
	t.mu.Unlock()
	some.Do(func() { t.o.Log.Warn(text, args...) })
}

// Close closes all connections and returns when all goroutines have ended.
func (t *Transport) Close() {
	t.mu.Lock()
	t.cancel()
	for _, p := range t.peers {
		p.close()
	}
	for nc := range t.accepted {
		nc.Close()
	}
	for s := range t.streams {
		s.Conn.Close()
	}
	for _, ln := range t.listeners {
		ln.Close()
	}
	t.mu.Unlock()
	t.running.Wait()
}
