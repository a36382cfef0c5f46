package resp

import (
	"net"
	"sync/atomic"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
	"fiveways.dev/fiveways/internal/semaphores"
)

// Limits on how long closing a connection takes.
const (
	lastWriteWindow = 5 * time.Second // to write the last replies
	lingerTimeout   = time.Second     // for a client that is still sending to read the error
	deafWindow      = 300 * time.Millisecond
)

// conn is one client connection. Its fields belong to the goroutine of Serve unless they say
// otherwise.
type conn struct {
	protocol.Life
	srv *Server
	nc  net.Conn
	id  uint64

	in      protocol.Input
	out     output
	parser  respwire.Parser
	w       respwire.Writer // replies not written yet
	work    *workspace      // nil between reads
	polling string          // pollKey of the waiting requests that end work.batch, or ""

	certUser  string // the user of the client's certificate, or ""
	client    *protocol.Client
	user      string          // of the session
	session   *broker.Session // nil before the login
	assumed   bool            // the session belongs to guest because the client named no user
	mistaken  bool            // a login failed: the client is no longer treated as guest
	login     *time.Timer     // closes the connection without a login; nil if none is due
	muted     muting
	subs      subscriptions
	tx        *transaction                  // nil outside of a transaction
	watched   map[string]shard.QueueVersion // queues that must not change before EXEC
	executing bool                          // EXEC is running

	// State that other goroutines read.
	opened     time.Time // immutable
	face       atomic.Pointer[face]
	resp3      atomic.Bool                     // copy of w.RESP3
	subscribed [4]atomic.Int32                 // channels, patterns, semaphores, shard channels
	queued     atomic.Int32                    // commands in the transaction, -1 without one
	last       atomic.Pointer[command.Command] // the last command handled
	lastAt     atomic.Int64                    // unix ms of the last read that returned data
	waits      waiting

	admitted bool // holds a slot of Options.Connections
	over     bool // nothing more is read
	linger   bool // the client may still be sending

	draining atomic.Bool
	fatal    atomic.Pointer[command.Error] // set to end the connection now, with the error to send
}

func newConn(s *Server, nc net.Conn, id uint64) *conn {
	c := &conn{srv: s, nc: nc, id: id, opened: time.Now()}
	c.Begin(nc, id)
	c.face.Store(&face{})
	c.queued.Store(-1)
	c.client = s.o.Clients.Enter(nc, id, "redis", c)
	c.in.Init(nc)
	c.in.Count(&c.client.In)
	c.out.init(nc, c.overrun)
	c.out.sent = &c.client.Out
	most := int(s.o.MaxMessageSize)
	c.parser.Limits = respwire.Limits{Bulk: most + requestSlack, Request: 2 * (most + requestSlack)}
	return c
}

// requestSlack is the room for names and options in a request beyond a message of the maximum size.
const requestSlack = 64 << 10

// Serve implements protocol.Session.
func (c *conn) Serve() {
	c.protect("a connection failed", c.begin)
	c.finish()
}

// begin admits the client and serves it until the connection ends.
func (c *conn) begin() {
	c.srv.conns.enter(c)
	c.certified()
	c.welcome()
	c.loop()
}

// welcome starts the login timeout if the client must log in and the timeout is not running yet.
func (c *conn) welcome() {
	if c.parser.Stranger = !c.trusted(); c.parser.Stranger && c.login == nil {
		c.login = time.AfterFunc(c.srv.o.LoginTimeout, c.Kill)
	}
}

// Session implements command.Conn.
func (c *conn) Session() *broker.Session { return c.session }

// Semaphores implements command.Conn.
func (c *conn) Semaphores() *semaphores.Manager { return c.srv.o.Semaphores }

// Time implements command.Conn.
func (c *conn) Time() int64 { return c.srv.broker.Now() }

// Writer implements command.Conn.
func (c *conn) Writer() *respwire.Writer { return &c.w }

// protect confines a panic to this connection.
func (c *conn) protect(what string, fn func()) {
	c.Protect(c.srv.o.Log, "redis: "+what, &c.user, fn, func() {
		c.w.Buf = nil // it may end in the middle of a reply
		c.w.Error("ERR internal error")
	})
}

// finish releases all resources, writes the remaining replies, and closes the socket.
func (c *conn) finish() {
	defer c.client.Leave()
	if c.login != nil {
		c.login.Stop()
	}
	c.srv.conns.leave(c)
	c.protect("the end of a connection failed", c.leave)
	c.nc.SetWriteDeadline(time.Now().Add(lastWriteWindow)) //nolint:errcheck // fails only if the socket is closed
	c.flush()
	c.out.drain()
	if c.admitted {
		c.srv.o.Connections.Release()
	}
	if c.linger {
		protocol.CloseWrite(c.nc) //nolint:errcheck // as above
		c.Linger(lingerTimeout)
	}
	c.in.Release()
	c.Kill()
}

// leave ends the subscriptions and closes the engine session.
func (c *conn) leave() {
	if s := c.session; s != nil {
		c.dropAll()
		c.session = nil
		s.Close()
	}
}

// Drain implements protocol.Session.
func (c *conn) Drain() {
	c.draining.Store(true)
	c.Leave()
	c.in.Kick()
	c.waits.leave()
}

// end makes the connection send e, unless it is empty, and close. Any goroutine may call it.
func (c *conn) end(e command.Error) {
	c.Leave()
	c.fatal.CompareAndSwap(nil, &e)
	c.nc.SetWriteDeadline(time.Now().Add(deafWindow)) //nolint:errcheck // fails only if the socket is closed
	c.in.Kick()
	c.waits.leave()
}

// End implements protocol.Part.
func (c *conn) End(reason string) { c.end(command.Error("ERR " + reason)) }

// overrun closes the connection of a subscriber that does not read. Any goroutine may call it.
func (c *conn) overrun() {
	c.srv.o.Log.Warn("redis: a subscriber does not read, closing the connection", "conn", c.id, "peer", c.nc.RemoteAddr(), "unread", mostUnread)
	c.nc.Close()
	c.waits.leave()
}

// Kill implements protocol.Session.
func (c *conn) Kill() {
	c.Life.Kill()
	c.waits.leave()
}
