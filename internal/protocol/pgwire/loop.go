package pgwire

import (
	"github.com/jackc/pgx/v5/pgproto3"

	"fiveways/internal/protocol/pgwire/pgerror"
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

// handle runs one message.
func (c *conn) handle(m pgproto3.FrontendMessage) {
	if c.skip {
		switch m.(type) {
		case *pgproto3.Sync, *pgproto3.Terminate:
		default:
			return
		}
	}
	if c.encoding != nil {
		if err := c.decode(m); err != nil {
			c.refuse(m, err)
			return
		}
	}
	switch m := m.(type) {
	case *pgproto3.Query:
		c.query(m.String)
	case *pgproto3.Parse:
		c.extended(c.parse(m))
	case *pgproto3.Bind:
		c.extended(c.bind(m))
	case *pgproto3.Describe:
		c.extended(c.describe(m))
	case *pgproto3.Execute:
		c.extended(c.execute(m))
	case *pgproto3.Close:
		c.extended(c.close(m))
	case *pgproto3.Flush:
		c.out.flush() //nolint:errcheck // the next read sees it
	case *pgproto3.Sync:
		c.sync()
	case *pgproto3.Terminate:
		c.over = true
	case *pgproto3.FunctionCall:
		c.session.Fail()
		c.problem(pgerror.New(pgerror.FeatureNotSupported, "the function call message is not supported").
			WithHint("Call the function in a SELECT."))
		c.sync()
	case *pgproto3.CopyData, *pgproto3.CopyDone, *pgproto3.CopyFail:
		// PostgreSQL overlooks these outside of COPY: a client may have sent them before it heard that its COPY failed.
	default:
		c.linger = true
		c.giveUp(fatal(pgerror.ProtocolViolation, "invalid frontend message"))
	}
}

// refuse ends a message whose texts cannot be read.
func (c *conn) refuse(m pgproto3.FrontendMessage, err error) {
	if _, simple := m.(*pgproto3.Query); !simple {
		c.extended(c.fail(err))
		return
	}
	c.session.Fail()
	c.problem(err)
	c.sync()
}

// extended ends a message of the extended protocol: after an error nothing counts until Sync.
func (c *conn) extended(err error) {
	if err != nil {
		c.problem(err)
		c.skip = true
	} else if c.out.full() {
		c.out.flush() //nolint:errcheck // the next read sees it
	}
}

// problem tells the client of an error of a statement.
func (c *conn) problem(err error) {
	if c.out.err != nil {
		return // and err may be no more than that
	}
	e, internal := errorOf(err)
	if internal {
		c.srv.o.Log.Error("sql: internal error", "conn", c.id, "peer", c.nc.RemoteAddr(), "user", c.user, "err", err)
	}
	if why := c.fatal.Load(); why != nil && e.Code == pgerror.QueryCanceled {
		return // the statement was interrupted because the connection ends: mustEnd says why
	}
	c.out.problem('E', e)
	if e.Severity == severityFatal {
		c.over = true
	}
}

// sync ends the implicit transaction of the messages before.
func (c *conn) sync() {
	c.skip = false
	if err := c.session.Sync(); err != nil {
		c.problem(err)
	}
	c.ready()
}

// ready tells that the next command may come, and writes all that has gathered.
func (c *conn) ready() {
	if c.over || c.fatal.Load() != nil {
		return
	}
	for _, r := range c.changed {
		c.out.text('S', r.name, r.value)
	}
	c.changed = c.changed[:0]
	c.out.status(c.session.Status())
	c.out.flush() //nolint:errcheck // the next read sees it
	c.resting = true
}
