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
	StateFlow     = "flow"    // its publishes wait for a limit of a rate
	StateClosing  = "closing"
)

// Clients are the connections of clients to a node, of all its protocols, as operators see them. A
// nil one knows none.
type Clients struct {
	pending *pendingConns // connections that have not logged in

	opened, closed                 atomic.Uint64
	channelsOpened, channelsClosed atomic.Uint64

	mu     sync.Mutex
	gone   map[string]ChannelCounts // guarded by mu: of channels that are closed, by virtual host
	open   map[uint64]*Client       // guarded by mu: by ID
	totals map[string]*BytesMoved   // guarded by mu: of connections that are closed, by protocol
}

// BytesMoved is what went over connections, with the framing of the protocol and without that of
// TLS.
type BytesMoved struct{ In, Out uint64 }

// NewClients returns a registry without connections.
func NewClients() *Clients { return NewClientsFor(0) }

// NewClientsFor returns a registry in which so many connections may be that have not logged in, a
// quarter of them from one address: for one too many another one of them is closed. 0 is the
// default, 4,096, or a quarter of the files that the process may open when that is less.
func NewClientsFor(pending int) *Clients {
	return &Clients{pending: newPendingConns(pending), gone: map[string]ChannelCounts{}, open: map[uint64]*Client{}, totals: map[string]*BytesMoved{}}
}

// Client is one connection. What is not said to be otherwise never changes.
type Client struct {
	ID       uint64 // unique in this process
	Protocol string // as its listen setting is called: amqp, sql, redis, etcd, http
	Peer     net.Addr
	Local    net.Addr
	TLS      *tls.ConnectionState // nil: plain
	Node     uint64               // of the cluster that it has connected to, when that is another one; else 0
	Opened   time.Time

	In, Out atomic.Uint64 // bytes; counted by the code that reads and writes for the connection

	part    Part
	clients *Clients                    // nil: it is in none, or has left
	pending atomic.Pointer[pendingConn] // nil: it has logged in, or left
	left    atomic.Bool
	login   atomic.Pointer[Login]
	state   atomic.Pointer[string]
}

// Part is the protocol's side of a connection.
type Part interface {
	// End has the client told why, in the words of the protocol, and the connection closed. It does
	// not wait. Any goroutine may call it.
	End(reason string)
}

// Channeled is a Part that has channels.
type Channeled interface {
	Part
	// Channels are those that are open. Any goroutine may call it.
	Channels() []Channel
}

// Login is the user of a client, and what was agreed with it.
type Login struct {
	User, VHost string
	Version     string        // of the protocol, for people: "AMQP 0-9-1"
	Mechanism   string        // how the user authenticated; "" where there is one way only
	Properties  message.Table // what the client says of itself
	FrameMax    int           // bytes, 0: the protocol has no such limit
	ChannelMax  int           // likewise
	Heartbeat   time.Duration // 0: none
}

// Channel is a channel of a connection at one moment.
type Channel struct {
	Number              int
	Consumers           int
	Prefetch            int // of each consumer to come, 0: no limit
	GlobalPrefetch      int // of all consumers together, 0: no limit
	Confirms            bool
	Transactional       bool
	Unacked             int // deliveries that are not settled
	Unconfirmed         int // publishes that were not answered
	UncommittedMessages int // publishes that wait for the commit of a transaction
	Uncommitted         int // settlements that do
	Counts              ChannelCounts
}

// ChannelCounts are what has happened on a channel, or on several.
type ChannelCounts = monitor.ChannelCounts

// Passed is a connection that another node of the cluster passes on.
type Passed interface {
	net.Conn
	// Node is the number of the node that the client has connected to.
	Node() uint64
}

// Enter adds a connection, which the result stands for. It leaves with Leave.
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

// known takes the connection out of those of pending.
func (c *Client) known() {
	if c.pending.Load() == nil {
		return
	}
	if v := c.pending.Swap(nil); v != nil {
		v.leave()
	}
}

// Leave takes the connection out. It may be called again.
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

// Name is the connection's name, as RabbitMQ has it: "127.0.0.1:4000 -> 127.0.0.1:5672".
func (c *Client) Name() string { return ConnectionName(c.Peer, c.Local) }

// ConnectionName is the name of a connection between two addresses.
func ConnectionName(peer, local net.Addr) string { return fmt.Sprintf("%v -> %v", peer, local) }

// LogIn records the login of the client.
func (c *Client) LogIn(l Login) {
	c.login.Store(&l)
	c.known()
}

// Login is the client's login; nil before it has logged in.
func (c *Client) Login() *Login { return c.login.Load() }

// SetState notes what the connection does.
func (c *Client) SetState(s string) { c.state.Store(&s) }

// State is what the connection does.
func (c *Client) State() string {
	if s := c.state.Load(); s != nil {
		return *s
	}
	if c.Login() == nil {
		return StateStarting
	}
	return StateRunning
}

// Channels are the open channels; none of a protocol without.
func (c *Client) Channels() []Channel {
	if p, ok := c.part.(Channeled); ok {
		return p.Channels()
	}
	return nil
}

// End closes the connection for a reason that the client is told.
func (c *Client) End(reason string) { c.part.End(reason) }

// All are the connections in the order in which they came.
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

// Churn is how many connections and channels have come and gone.
type Churn struct{ Opened, Closed, ChannelsOpened, ChannelsClosed uint64 }

// Churn reads the counters.
func (cs *Clients) Churn() Churn {
	if cs == nil {
		return Churn{}
	}
	return Churn{cs.opened.Load(), cs.closed.Load(), cs.channelsOpened.Load(), cs.channelsClosed.Load()}
}

// ChannelOpened counts a channel that has come.
func (c *Client) ChannelOpened() {
	if c.clients != nil {
		c.clients.channelsOpened.Add(1)
	}
}

// vhost is the virtual host of the login, "" before it.
func (c *Client) vhost() string {
	if l := c.Login(); l != nil {
		return l.VHost
	}
	return ""
}

// ChannelClosed counts a channel that has gone, with what has happened on it.
func (c *Client) ChannelClosed(n *ChannelCounts) {
	cs := c.clients
	if cs == nil {
		return
	}
	cs.channelsClosed.Add(1)
	vhost := c.vhost()
	cs.mu.Lock()
	defer cs.mu.Unlock()
	sum := cs.gone[vhost]
	sum.Add(n)
	cs.gone[vhost] = sum
}

// Observe is what a monitor samples.
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

// Bytes is what went over all connections so far, by protocol.
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

// ClientOf is the client that a connection stands for, one of no registry when it does not say.
func ClientOf(nc net.Conn) *Client {
	if known, ok := nc.(interface{ Client() *Client }); ok {
		return known.Client()
	}
	return &Client{}
}
