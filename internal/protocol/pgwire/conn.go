package pgwire

import (
	"net"
	"sync/atomic"
	"time"

	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/pgwire/charset"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// The limits of how long a connection takes to end.
const (
	lastWriteWindow = 5 * time.Second        // for the last messages to be written
	lingerTimeout   = time.Second            // for a client to read why, while it still sends
	deafWindow      = 300 * time.Millisecond // for a client to take what is being written when its connection is ended
)

// conn is one client connection. Its fields belong to the goroutine of Serve unless they say
// otherwise.
type conn struct {
	protocol.Life
	srv *Server
	nc  net.Conn
	id  uint64
	pid uint32         // names the connection in cancel requests; set before other goroutines can see it
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

	last *pgerror.Error // is told behind the next problem, and ends the connection; nil: nothing

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
}

// reported is a change of a setting that the client is to be told.
type reported struct{ name, value string }

func newConn(s *Server, nc net.Conn, id uint64) *conn {
	c := &conn{srv: s, nc: nc, id: id, started: time.Now()}
	c.Begin(nc, id)
	c.client = s.o.Clients.Enter(nc, id, "sql", c)
	c.out.nc, c.out.w = nc, &countedWriter{nc, &c.client.Out}
	c.running.gone = func() bool { return isGone(nc) }
	return c
}

// Serve implements protocol.Session.
func (c *conn) Serve() {
	login := time.AfterFunc(c.srv.o.LoginTimeout, c.Kill)
	defer login.Stop()
	c.protect("sql: a connection failed", func() {
		if c.startUp() {
			login.Stop()
			c.loop()
		}
	}, c.breakOff)
	c.finish()
}

func (c *conn) protect(what string, fn, failed func()) {
	c.Protect(c.srv.o.Log, what, &c.user, fn, failed)
}

// breakOff drops what was being written, which may end in the middle of a message, and says so.
func (c *conn) breakOff() {
	c.out.buf = c.out.buf[:0]
	if c.out.pooled == nil {
		c.out.buf = nil
	}
	c.out.problem('E', fatal(pgerror.InternalError, "internal error"))
}

// finish gives back everything, writes what is left, and closes the socket.
func (c *conn) finish() {
	defer c.client.Leave()
	c.protect("sql: the end of a session failed", c.endSession, func() {})
	c.srv.conns.leave(c)
	c.nc.SetWriteDeadline(time.Now().Add(lastWriteWindow)) //nolint:errcheck // a socket that is closed is at its end
	c.out.flush()                                          //nolint:errcheck // as above
	if c.admitted {
		c.srv.o.Connections.Release()
	}
	if c.linger {
		protocol.CloseWrite(c.nc) //nolint:errcheck // as above
		c.Linger(lingerTimeout)
	}
	c.Kill()
}

// endSession takes the connection out of the engine: what was open is rolled back.
func (c *conn) endSession() {
	if c.closeSession != nil {
		defer c.closeSession()
	}
	if s := c.session; s != nil {
		c.session = nil
		s.Close()
	}
}

// Drain implements protocol.Session.
func (c *conn) Drain() {
	c.draining.Store(true)
	c.kick()
}

// end makes the connection tell the client e and end; what runs is interrupted, the writing of rows
// to a client that does not read too. Any goroutine may call it.
func (c *conn) end(e *pgerror.Error) {
	c.Leave()
	c.fatal.CompareAndSwap(nil, e)
	c.running.stop()
	c.nc.SetWriteDeadline(time.Now().Add(deafWindow)) //nolint:errcheck // a socket that is closed is at its end
	c.kick()
}

// End implements protocol.Part.
func (c *conn) End(reason string) {
	c.end(fatal(pgerror.AdminShutdown, "terminating connection: %s", reason))
}

// Abandon implements protocol.Abandoner: 57P01 takes the place of all answers.
func (c *conn) Abandon() {
	c.out.last.Store(errShutdown)
	c.end(errShutdown)
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
	c.Life.Kill()
	c.running.stop()
}

// giveUp tells the client e, which ends the connection.
func (c *conn) giveUp(e *pgerror.Error) {
	c.out.problem('E', e)
	c.over = true
}
