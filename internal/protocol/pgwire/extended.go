package pgwire

import (
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"

	"fiveways/internal/protocol/pgwire/pgerror"
	"fiveways/internal/protocol/pgwire/sql"
	"fiveways/internal/protocol/pgwire/sql/value"
)

// The kinds of things that Describe and Close name.
const (
	ofStatement = 'S'
	ofPortal    = 'P'
)

// fail notes an error that the session did not see.
func (c *conn) fail(err error) error {
	c.session.Fail()
	return err
}

// parse makes a prepared statement.
func (c *conn) parse(m *pgproto3.Parse) error {
	if err := checkText(m.Query); err != nil {
		return c.fail(err)
	}
	p, err := c.session.Prepare(m.Query, m.ParameterOIDs)
	if err != nil {
		return err
	}
	if err := c.session.Store(m.Name, p); err != nil {
		return err
	}
	c.out.bare('1')
	return nil
}

// bind makes a portal of a prepared statement.
func (c *conn) bind(m *pgproto3.Bind) error {
	p, err := c.session.Statement(m.PreparedStatement)
	if err != nil {
		return err
	}
	args, err := c.arguments(m, p)
	if err != nil {
		return c.fail(err)
	}
	portal, err := c.session.Open(p, args)
	if err != nil {
		return err
	}
	if portal.Formats, err = formatsOf(m.ResultFormatCodes, len(portal.Columns)); err != nil {
		return c.fail(err)
	}
	if err := c.session.Bind(m.DestinationPortal, portal); err != nil {
		return err
	}
	c.out.bare('2')
	return nil
}

// arguments reads the parameters of a Bind.
func (c *conn) arguments(m *pgproto3.Bind, p *sql.Prepared) ([]value.Datum, error) {
	n := len(m.Parameters)
	if formats := len(m.ParameterFormatCodes); formats > 1 && formats != n {
		return nil, pgerror.New(pgerror.ProtocolViolation, "bind message has %d parameter formats but %d parameters", formats, n)
	}
	if n != len(p.Params) {
		return nil, pgerror.New(pgerror.ProtocolViolation, `bind message supplies %d parameters, but prepared statement "%s" requires %d`,
			n, m.PreparedStatement, len(p.Params))
	}
	if n == 0 {
		return nil, nil
	}
	args := make([]value.Datum, n)
	set := c.session.Settings()
	for i, b := range m.Parameters {
		if b == nil {
			continue
		}
		if c.encoding != nil {
			var err error
			if b, err = c.decodeParameter(p.Params[i], formatAt(m.ParameterFormatCodes, i), b); err != nil {
				return nil, err
			}
		}
		d, err := argument(p.Params[i], formatAt(m.ParameterFormatCodes, i), b, &set)
		if err != nil {
			return nil, err
		}
		args[i] = d
	}
	return args, nil
}

func argument(t *value.Type, format int16, b []byte, set *value.Settings) (value.Datum, error) {
	switch format {
	case textFormat:
		if !utf8.Valid(b) {
			return nil, invalidText(b)
		}
		return value.Parse(t, string(b), set)
	case binaryFormat:
		return value.ParseBinary(t, b)
	}
	return nil, unsupportedFormat(format)
}

// describe tells what a statement takes and returns, or what a portal returns.
func (c *conn) describe(m *pgproto3.Describe) error {
	switch m.ObjectType {
	case ofStatement:
		p, err := c.session.Statement(m.Name)
		if err != nil {
			return err
		}
		if err := c.describable(p.Columns); err != nil {
			return err
		}
		c.parameterDescription(p.Params)
		return c.rowDescription(p.Columns, nil)
	case ofPortal:
		p, err := c.session.Portal(m.Name)
		if err != nil {
			return err
		}
		if err := c.describable(p.Columns); err != nil {
			return err
		}
		return c.rowDescription(p.Columns, p.Formats)
	default:
		return c.fail(pgerror.New(pgerror.ProtocolViolation, "invalid DESCRIBE message subtype %d", m.ObjectType))
	}
}

// describable refuses to tell of rows in a transaction that has failed, as PostgreSQL does: there will be none.
func (c *conn) describable(columns []value.Field) error {
	if len(columns) > 0 && c.session.Status() == 'E' {
		return sql.Aborted()
	}
	return nil
}

// execute runs a portal, at most to its row limit.
func (c *conn) execute(m *pgproto3.Execute) error {
	p, err := c.session.Portal(m.Portal)
	if err != nil {
		return err
	}
	if p.Spent() {
		return c.fail(pgerror.New("55000", `portal "%s" cannot be run`, m.Portal))
	}
	limit := 0
	if m.MaxRows < 1<<31 { // negative ones mean none, too
		limit = int(m.MaxRows)
	}
	if c.session.AsksLast(p) {
		if p.Last = c.syncFollows(); c.over {
			return nil
		}
	}
	ctx := c.running.begin()
	done, tag, err := c.session.Fetch(ctx, p, limit, c.rows(p))
	c.running.done()
	switch {
	case err != nil:
		return err
	case !done:
		c.out.bare('s')
	default:
		c.complete(tag)
	}
	return nil
}

// syncFollows tells whether the next message is a Sync, and waits for it: a client that waits for the answers first has to send a Sync or a Flush. The
// fields of the message before it are void then.
func (c *conn) syncFollows() bool {
	next, ok := c.receive()
	if !ok {
		c.over = true
		return false
	}
	c.ahead = next
	_, sync := next.(*pgproto3.Sync)
	return sync
}

// close forgets a statement or a portal; there need not be one.
func (c *conn) close(m *pgproto3.Close) error {
	switch m.ObjectType {
	case ofStatement:
		c.session.Deallocate(m.Name)
	case ofPortal:
		c.session.Release(m.Name)
	default:
		return c.fail(pgerror.New(pgerror.ProtocolViolation, "invalid CLOSE message subtype %d", m.ObjectType))
	}
	c.out.bare('3')
	return nil
}
