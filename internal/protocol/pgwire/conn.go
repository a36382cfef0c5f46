package pgwire

import (
	"net"
	"sync/atomic"
	"time"

	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/pgwire/charset"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// Limits on how long closing a connection takes.
const (
	lastWriteWindow = 5 * time.Second        // for writing the last messages
	lingerTimeout   = time.Second            // for a client that still sends to read the reason
	deafWindow      = 300 * time.Millisecond // for a client to accept a write in progress when its connection is ended
)

// conn is one client connection. Its fields belong to the goroutine of Serve unless their comments
// say otherwise.
type conn struct {
	protocol.Life
	srv *Server
	nc  net.Conn
	id  uint64
	pid uint32         // identifies the connection in cancel requests; set before other goroutines can see it
	key [keyBytes]byte // authenticates cancel requests for this connection; set together with pid

	client *protocol.Client
	in     frames
	out    output

	encoding *charset.Encoding // of the client's texts; nil: UTF-8

	user, database string
	session        session // nil until the login is complete
	closeSession   func()
	admitted       bool // holds a slot of Options.Connections

	ahead incoming // the next message, already read, unless its kind is 0

	last *pgerror.Error // sent after the next error, and ends the connection; nil: none

	over    bool // nothing more is read
	linger  bool // the client may still be sending
	skip    bool // after an error in the extended protocol: messages are ignored until Sync
	resting bool // no command has begun since the last ReadyForQuery
	changed []reported

	running  running                       // has its own lock
	started  time.Time                     // never changes
	name     atomic.Pointer[string]        // application_name
	status   atomic.Uint32                 // the last status sent with ReadyForQuery
	draining atomic.Bool                   // end as soon as no transaction is open
	fatal    atomic.Pointer[pgerror.Error] // end now with this error
	kicked   atomic.Bool                   // the read was interrupted because of draining or fatal
}

// reported is a changed setting that the client must be told about.
type reported struct{ name, value string }

func newConn(s *Server, nc net.Conn, id uint64) *conn {
	c := &conn{srv: s, nc: nc, id: id, started: time.Now()}
	c.Begin(nc, id)
	c.client = s.o.Clients.Enter(nc, id, "sql", c)
	c.out.nc, c.out.w = nc, &countedWriter{nc, &c.client.Out}
	c.running.gone = func() bool { return protocol.Gone(nc) }
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

// breakOff drops the buffered output, which may end in the middle of a message, and reports an
// internal error to the client.
func (c *conn) breakOff() {
	c.out.buf = c.out.buf[:0]
	if c.out.pooled == nil {
		c.out.buf = nil
	}
	c.out.problem('E', fatal(pgerror.InternalError, "internal error"))
}

// finish releases all resources, writes the remaining output, and closes the socket.
func (c *conn) finish() {
	defer c.client.Leave()
	c.protect("sql: the end of a session failed", c.endSession, func() {})
	c.srv.conns.leave(c)
	c.nc.SetWriteDeadline(time.Now().Add(lastWriteWindow)) //nolint:errcheck // a closed socket needs no deadline
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

// endSession closes the session, which rolls back the open transaction.
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

// end sends e to the client and ends the connection. It interrupts the running statement, also when
// it is writing rows to a client that does not read. Any goroutine may call it.
func (c *conn) end(e *pgerror.Error) {
	c.Leave()
	c.fatal.CompareAndSwap(nil, e)
	c.running.stop()
	c.nc.SetWriteDeadline(time.Now().Add(deafWindow)) //nolint:errcheck // a closed socket needs no deadline
	c.kick()
}

// End implements protocol.Part.
func (c *conn) End(reason string) {
	c.end(fatal(pgerror.AdminShutdown, "terminating connection: %s", reason))
}

// Abandon implements protocol.Abandoner. The client receives 57P01 instead of any pending answers.
func (c *conn) Abandon() {
	c.out.last.Store(errShutdown)
	c.end(errShutdown)
}

// evict ends the session; the engine calls it. Any goroutine may call it.
func (c *conn) evict(reason error) { c.end(evicted(reason)) }

// kick wakes the goroutine that waits in a read.
func (c *conn) kick() {
	c.kicked.Store(true)
	c.nc.SetReadDeadline(past) //nolint:errcheck // a read of a closed socket returns by itself
}

// past is a deadline that has already expired.
var past = time.Unix(1, 0)

// Kill implements protocol.Session.
func (c *conn) Kill() {
	c.Life.Kill()
	c.running.stop()
}

// giveUp sends e to the client and marks the connection as over.
func (c *conn) giveUp(e *pgerror.Error) {
	c.out.problem('E', e)
	c.over = true
}
