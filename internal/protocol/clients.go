package protocol

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/monitor"
)

// The states of a connection, in RabbitMQ's words.
const (
	StateStarting = "starting" // not logged in yet
	StateRunning  = "running"
	StateBlocked  = "blocked" // its publishes wait for the end of an alarm
	StateFlow     = "flow"    // its publishes wait for a rate limit
	StateClosing  = "closing"
)

// Clients are the client connections of a node for all protocols, as operators see them. A nil
// Clients has none.
type Clients struct {
	pending *pendingConns // connections that have not logged in

	opened, closed                 atomic.Uint64
	channelsOpened, channelsClosed atomic.Uint64

	mu     sync.Mutex
	gone   map[string]ChannelCounts // guarded by mu: of closed channels, by virtual host
	open   map[uint64]*Client       // guarded by mu: by ID
	totals map[string]*BytesMoved   // guarded by mu: of closed connections, by protocol
}

// BytesMoved counts the bytes of connections, with the framing of the protocol but without that of
// TLS.
type BytesMoved struct{ In, Out uint64 }

// NewClients returns a registry without connections.
func NewClients() *Clients { return NewClientsFor(0) }

// NewClientsFor returns a registry that admits up to pending connections that have not logged in,
// at most a quarter of them from one address; a further one closes another. 0 means 4,096, or a
// quarter of the files that the process may open if that is less.
func NewClientsFor(pending int) *Clients {
	return &Clients{pending: newPendingConns(pending), gone: map[string]ChannelCounts{}, open: map[uint64]*Client{}, totals: map[string]*BytesMoved{}}
}

// Client is one connection. Fields never change unless their comment says otherwise.
type Client struct {
	ID       uint64 // unique in this process
	Protocol string // the name of its listen setting: amqp, sql, redis, etcd, http
	Peer     net.Addr
	Local    net.Addr
	TLS      *tls.ConnectionState // nil: plain
	Node     uint64               // the node that the client connected to, if that is another one; otherwise 0
	Opened   time.Time

	In, Out atomic.Uint64 // bytes; counted by the code that reads and writes for the connection

	part    Part
	clients *Clients                    // nil: not in a registry, or no longer
	pending atomic.Pointer[pendingConn] // nil: it has logged in or left
	left    atomic.Bool
	login   atomic.Pointer[Login]
	state   atomic.Pointer[string]
}

// Part is the protocol's side of a connection.
type Part interface {
	// End tells the client the reason as the protocol does, and closes the connection. It does not
	// wait. Any goroutine may call it.
	End(reason string)
}

// Channeled is a Part that has channels.
type Channeled interface {
	Part
	// Channels returns the open channels. Any goroutine may call it.
	Channels() []Channel
}

// Login is the user of a client with the negotiated limits.
type Login struct {
	User, VHost string
	Version     string        // of the protocol, as text: "AMQP 0-9-1"
	Mechanism   string        // how the user authenticated; "" if the protocol has only one way
	Properties  message.Table // what the client reports about itself
	FrameMax    int           // bytes, 0: the protocol has no such limit
	ChannelMax  int           // likewise
	Heartbeat   time.Duration // 0: none
}

// Channel is a channel of a connection at one moment.
type Channel struct {
	Number              int
	Consumers           int
	Prefetch            int // of each new consumer, 0: no limit
	GlobalPrefetch      int // of all consumers together, 0: no limit
	Confirms            bool
	Transactional       bool
	Unacked             int // deliveries not yet settled
	Unconfirmed         int // publishes not yet confirmed
	UncommittedMessages int // publishes of an open transaction
	Uncommitted         int // settlements of an open transaction
	Counts              ChannelCounts
}

// ChannelCounts count what has happened on one channel or several.
type ChannelCounts = monitor.ChannelCounts

// Passed is a connection that another node of the cluster may have forwarded.
type Passed interface {
	net.Conn
	// Node returns the number of the node that the client connected to.
	Node() uint64
}

// Enter adds a connection and returns its entry, which Leave removes.
func (cs *Clients) Enter(nc net.Conn, id uint64, protocol string, part Part) *Client {
	c := &Client{ID: id, Protocol: protocol, Peer: nc.RemoteAddr(), Local: nc.LocalAddr(), Opened: time.Now(), part: part, clients: cs}
	if state, ok := StateOf(nc); ok {
		c.TLS = &state
	}
	if p, ok := nc.(Passed); ok {
		c.Node = p.Node()
	}
	if cs == nil {
		return c
	}
	cs.opened.Add(1)
	cs.mu.Lock()
	cs.open[id] = c
	cs.mu.Unlock()
	c.pending.Store(cs.pending.enter(nc))
	return c
}

// known removes the connection from the pending connections.
func (c *Client) known() {
	if c.pending.Load() == nil {
		return
	}
	if v := c.pending.Swap(nil); v != nil {
		v.leave()
	}
}

// Leave removes the connection. Further calls do nothing.
func (c *Client) Leave() {
	cs := c.clients
	if cs == nil || c.left.Swap(true) {
		return
	}
	c.known()
	cs.closed.Add(1)
	cs.mu.Lock()
	defer cs.mu.Unlock()
	delete(cs.open, c.ID)
	sum := cs.totals[c.Protocol]
	if sum == nil {
		sum = &BytesMoved{}
		cs.totals[c.Protocol] = sum
	}
	sum.In += c.In.Load()
	sum.Out += c.Out.Load()
}

// Name returns the connection's name in RabbitMQ's form: "127.0.0.1:4000 -> 127.0.0.1:5672".
func (c *Client) Name() string { return ConnectionName(c.Peer, c.Local) }

// ConnectionName returns the name of a connection between two addresses.
func ConnectionName(peer, local net.Addr) string { return fmt.Sprintf("%v -> %v", peer, local) }

// LogIn records the login of the client.
func (c *Client) LogIn(l Login) {
	c.login.Store(&l)
	c.known()
}

// Login returns the client's login, nil before it has logged in.
func (c *Client) Login() *Login { return c.login.Load() }

// SetState records the state of the connection.
func (c *Client) SetState(s string) { c.state.Store(&s) }

// State returns the state of the connection.
func (c *Client) State() string {
	if s := c.state.Load(); s != nil {
		return *s
	}
	if c.Login() == nil {
		return StateStarting
	}
	return StateRunning
}

// Channels returns the open channels, none if the protocol has no channels.
func (c *Client) Channels() []Channel {
	if p, ok := c.part.(Channeled); ok {
		return p.Channels()
	}
	return nil
}

// End closes the connection and tells the client the reason.
func (c *Client) End(reason string) { c.part.End(reason) }

// All returns the connections in the order in which they opened.
func (cs *Clients) All() []*Client {
	if cs == nil {
		return nil
	}
	cs.mu.Lock()
	list := make([]*Client, 0, len(cs.open))
	for _, c := range cs.open {
		list = append(list, c)
	}
	cs.mu.Unlock()
	slices.SortFunc(list, func(a, b *Client) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// Churn counts the connections and channels that were opened and closed.
type Churn struct{ Opened, Closed, ChannelsOpened, ChannelsClosed uint64 }

// Churn returns the counters.
func (cs *Clients) Churn() Churn {
	if cs == nil {
		return Churn{}
	}
	return Churn{cs.opened.Load(), cs.closed.Load(), cs.channelsOpened.Load(), cs.channelsClosed.Load()}
}

// ChannelOpened counts a new channel.
func (c *Client) ChannelOpened() {
	if c.clients != nil {
		c.clients.channelsOpened.Add(1)
	}
}

// vhost returns the virtual host of the login, "" before it.
func (c *Client) vhost() string {
	if l := c.Login(); l != nil {
		return l.VHost
	}
	return ""
}

// ChannelClosed counts a closed channel, and adds its counts to the totals.
func (c *Client) ChannelClosed(n *ChannelCounts) {
	cs := c.clients
	if cs == nil {
		return
	}
	vhost := c.vhost()
	cs.mu.Lock()
	defer cs.mu.Unlock()
	sum := cs.gone[vhost]
	sum.Add(n)
	cs.gone[vhost] = sum
	cs.channelsClosed.Add(1)
}

// Gone returns the counts of all closed channels.
func (cs *Clients) Gone() ChannelCounts {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	e := monitor.Edge{GoneIn: cs.gone}
	return e.Gone()
}

// Observe returns the figures that a monitor samples.
func (cs *Clients) Observe() (e monitor.Edge) {
	if cs == nil {
		return e
	}
	churn := cs.Churn()
	e.ConnectionsOpened, e.ConnectionsClosed, e.ChannelsOpened, e.ChannelsClosed = churn.Opened, churn.Closed, churn.ChannelsOpened, churn.ChannelsClosed
	cs.mu.Lock()
	e.GoneIn = maps.Clone(cs.gone)
	for _, sum := range cs.totals {
		e.Received += sum.In
		e.Sent += sum.Out
	}
	cs.mu.Unlock()
	for _, c := range cs.All() {
		in, out := c.In.Load(), c.Out.Load()
		e.Received += in
		e.Sent += out
		e.Connections = append(e.Connections, monitor.Connection{ID: c.ID, Received: in, Sent: out})
		vhost := c.vhost()
		for _, ch := range c.Channels() {
			e.Channels = append(e.Channels, monitor.Channel{ID: monitor.ChannelID{Connection: c.ID, Number: ch.Number}, VHost: vhost, Counts: ch.Counts})
		}
	}
	return e
}

// Bytes returns the bytes of all connections so far, by protocol.
func (cs *Clients) Bytes() map[string]BytesMoved {
	sums := map[string]BytesMoved{}
	if cs == nil {
		return sums
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for name, sum := range cs.totals {
		sums[name] = *sum
	}
	for _, c := range cs.open {
		sum := sums[c.Protocol]
		sum.In += c.In.Load()
		sum.Out += c.Out.Load()
		sums[c.Protocol] = sum
	}
	return sums
}

// ClientOf returns the client of a connection. For a connection without a client it returns one
// that is in no registry.
func ClientOf(nc net.Conn) *Client {
	if known, ok := nc.(interface{ Client() *Client }); ok {
		return known.Client()
	}
	return &Client{}
}
