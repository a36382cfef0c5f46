package pgwire

import (
	"errors"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// loop handles messages until the connection is over.
func (c *conn) loop() {
	for {
		m, ok := c.receive()
		if !ok {
			return
		}
		c.resting = false
		c.handle(m)
	}
}

// handle runs one message. A malformed body is an error of this message only.
func (c *conn) handle(m incoming) {
	if c.skip && m.kind != 'S' && m.kind != 'X' {
		return
	}
	r := c.newBody(m)
	switch m.kind {
	case 'Q':
		c.query(r)
	case 'P':
		c.extended(c.parse(r))
	case 'B':
		c.extended(c.bind(r))
	case 'D':
		c.extended(c.describe(r))
	case 'E':
		c.extended(c.execute(r))
	case 'C':
		c.extended(c.close(r))
	case 'H':
		c.extended(c.flush(r))
	case 'S':
		if err := r.end(); err != nil {
			c.problem(c.fail(err))
		}
		c.sync()
	case 'X':
		c.over = true
	case 'F':
		c.session.Fail()
		c.problem(pgerror.New(pgerror.FeatureNotSupported, "the function call message is not supported").
			WithHint("Call the function in a SELECT."))
		c.sync()
	case 'd', 'c', 'f':
		// PostgreSQL ignores these outside of COPY: a client may have sent them before it learned
		// that its COPY failed.
	default: // messages that are valid only during the login
		c.linger = true
		c.giveUp(fatal(pgerror.ProtocolViolation, "invalid frontend message type %d", m.kind))
	}
}

// extended finishes a message of the extended protocol. After an error, messages are ignored until
// Sync. The error is sent at once, because the Flush of a client that waits for it is ignored too.
func (c *conn) extended(err error) {
	if err != nil {
		c.problem(err)
		c.skip = true
	}
	if err != nil || c.out.full() {
		c.out.flush() //nolint:errcheck // the next read reports the error
	}
}

// problem sends the error of a statement to the client.
func (c *conn) problem(err error) {
	if c.out.err != nil || errors.Is(err, errLeft) {
		return // err may be a mere consequence of the failed connection
	}
	e, internal := errorOf(err)
	if internal {
		c.srv.o.Log.Error("sql: internal error", "conn", c.id, "peer", c.nc.RemoteAddr(), "user", c.user, "err", err)
	}
	if why := c.fatal.Load(); why != nil && e.Code == pgerror.QueryCanceled {
		return // the statement was interrupted because the connection ends: mustEnd sends the reason
	}
	c.out.problem('E', e)
	if e.Severity == severityFatal {
		c.over = true
	}
	if last := c.last; last != nil {
		c.last = nil
		c.giveUp(last)
	}
}

// sync ends the implicit transaction of the preceding messages.
func (c *conn) sync() {
	c.skip = false
	err := c.session.Sync(c.running.again())
	c.running.done()
	if err != nil {
		c.problem(err)
	}
	c.ready()
}

// ready sends ReadyForQuery and writes all buffered output.
func (c *conn) ready() {
	if c.over || c.fatal.Load() != nil {
		return
	}
	for _, r := range c.changed {
		c.out.text('S', r.name, r.value)
	}
	c.changed = c.changed[:0]
	status := c.session.Status()
	c.status.Store(uint32(status))
	c.out.status(status)
	c.out.flush() //nolint:errcheck // the next read reports the error
	c.resting = true
}
