package pgwire

import (
	"io"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"fiveways/internal/protocol"
	"fiveways/internal/protocol/pgwire/charset"
	"fiveways/internal/protocol/pgwire/pgerror"
)

// The limits of how long a connection takes to end.
const (
	lastWriteWindow = 5 * time.Second        // for the last messages to be written
	lingerTimeout   = time.Second            // for a client to read why, while it still sends
	deafWindow      = 300 * time.Millisecond // for a client to take what is being written when its connection is ended
)

// conn is one client connection. Its fields belong to the goroutine of Serve unless they say otherwise.
type conn struct {
	srv *Server
	nc  net.Conn
	id  uint64
	pid uint32         // names the connection in cancel requests; set before anybody else can see it
	key [keyBytes]byte // proves that a cancel request may name it; as pid

	client *protocol.Client
	in     frames
	out    output

	encoding *charset.Encoding // of the client's texts; nil: UTF-8

	user, database string
	session        session // nil before the login is over
	closeSession   func()
	admitted       bool // holds a place of Options.Connections

	ahead incoming // was read, and comes next, when it has a kind

	over    bool // nothing is read any more
	linger  bool // the client may be sending still
	skip    bool // after an error in the extended protocol: until Sync nothing counts
	resting bool // nothing is begun: ReadyForQuery was the last word
	changed []reported

	running  running                       // has its own lock
	started  time.Time                     // never changes
	name     atomic.Pointer[string]        // application_name
	status   atomic.Uint32                 // what ReadyForQuery said last
	draining atomic.Bool                   // to end when no transaction is open
	fatal    atomic.Pointer[pgerror.Error] // to end now, and why
	kicked   atomic.Bool                   // the read was interrupted for draining or fatal
	done     chan struct{}                 // closed by Kill, and at the end
	doneOnce sync.Once
	leaving  chan struct{} // closed when the connection is to end
	endWaits func()        // closes it
}

// reported is a change of a setting that the client is to be told.
type reported struct{ name, value string }

func newConn(s *Server, nc net.Conn, id uint64) *conn {
	if tc, ok := nc.(*net.TCPConn); ok {
		tc.SetNoDelay(true) //nolint:errcheck // only latency is at stake
	}
	c := &conn{srv: s, nc: nc, id: id, started: time.Now(), done: make(chan struct{}), leaving: make(chan struct{})}
	c.endWaits = sync.OnceFunc(func() { close(c.leaving) })
	c.client = s.o.Clients.Enter(nc, id, "sql", c)
	c.out.w = &countedWriter{nc, &c.client.Out}
	c.running.gone = func() bool { return isGone(nc) }
	return c
}

// Serve implements protocol.Session.
func (c *conn) Serve() {
	login := time.AfterFunc(c.srv.o.LoginTimeout, c.Kill)
	defer login.Stop()
	c.work(func() bool { login.Stop(); return true })
	c.finish()
}

// work reads until the connection is over; loggedIn is called when the login is. A panic ends this connection only.
func (c *conn) work(loggedIn func() bool) {
	defer func() {
		if p := recover(); p != nil {
			c.srv.o.Log.Error("sql: a connection failed", "conn", c.id, "peer", c.nc.RemoteAddr(), "user", c.user, "panic", p, "stack", string(debug.Stack()))
			c.abandon()
			c.out.problem('E', fatal(pgerror.InternalError, "internal error"))
		}
	}()
	if c.startUp() && loggedIn() {
		c.loop()
	}
}

// abandon drops what was being written: it may end in the middle of a message.
func (c *conn) abandon() {
	c.out.buf = c.out.buf[:0]
	if c.out.pooled == nil {
		c.out.buf = nil
	}
}

// finish gives back everything, writes what is left, and closes the socket.
func (c *conn) finish() {
	defer c.client.Leave()
	c.endSession()
	c.srv.conns.leave(c)
	c.nc.SetWriteDeadline(time.Now().Add(lastWriteWindow)) //nolint:errcheck // a socket that is closed is at its end
	c.out.flush()                                          //nolint:errcheck // as above
	if c.admitted {
		c.srv.o.Connections.Release()
	}
	if c.linger {
		c.awaitEnd()
	}
	c.Kill()
}

// endSession takes the connection out of the engine: what was open is rolled back. A panic in it is told, and must not keep the rest from
// ending.
func (c *conn) endSession() {
	defer func() {
		if p := recover(); p != nil {
			c.srv.o.Log.Error("sql: the end of a session failed", "conn", c.id, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	if c.closeSession != nil {
		defer c.closeSession()
	}
	if s := c.session; s != nil {
		c.session = nil
		s.Close()
	}
}

// awaitEnd reads on for a moment: a socket that is closed with something unread takes back what was written.
func (c *conn) awaitEnd() {
	protocol.CloseWrite(c.nc)                           //nolint:errcheck // a socket that is closed is at its end
	c.nc.SetReadDeadline(time.Now().Add(lingerTimeout)) //nolint:errcheck // as above
	io.Copy(io.Discard, c.nc)                           //nolint:errcheck // as above
}

// Drain implements protocol.Session.
func (c *conn) Drain() {
	c.draining.Store(true)
	c.kick()
}

// end makes the connection tell the client e and end; what runs is interrupted, the writing of rows to a client that does not read too. Any
// goroutine may call it.
func (c *conn) end(e *pgerror.Error) {
	c.endWaits()
	c.fatal.CompareAndSwap(nil, e)
	c.running.stop()
	c.nc.SetWriteDeadline(time.Now().Add(deafWindow)) //nolint:errcheck // a socket that is closed is at its end
	c.kick()
}

// End implements protocol.Part.
func (c *conn) End(reason string) {
	c.end(fatal(pgerror.AdminShutdown, "terminating connection: %s", reason))
}

// evict is what the engine calls when the session must end. Any goroutine may call it.
func (c *conn) evict(reason error) { c.end(evicted(reason)) }

// kick wakes the read.
func (c *conn) kick() {
	c.kicked.Store(true)
	c.nc.SetReadDeadline(past) //nolint:errcheck // a socket that is closed wakes by itself
}

// past is a deadline that is over.
var past = time.Unix(1, 0)

// Kill implements protocol.Session.
func (c *conn) Kill() {
	c.doneOnce.Do(func() { close(c.done) })
	c.endWaits()
	c.running.stop()
	c.nc.Close()
}

// giveUp tells the client e, which ends the connection.
func (c *conn) giveUp(e *pgerror.Error) {
	c.out.problem('E', e)
	c.over = true
}
