package pgwire

import (
	"errors"
	"fmt"

	"fiveways.dev/fiveways/internal/protocol/pgwire/charset"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// The kinds of objects that Describe and Close name.
const (
	ofStatement = 'S'
	ofPortal    = 'P'
)

// fail marks the transaction as failed because of an error that the session did not see, and
// returns err.
func (c *conn) fail(err error) error {
	c.session.Fail()
	return err
}

// parse creates a prepared statement.
func (c *conn) parse(r *body) error {
	name, text, types := r.text(), r.text(), r.types()
	if err := r.end(); err != nil {
		return c.fail(err)
	}
	if name == "" {
		c.session.Deallocate("") // also if the new one fails, as in PostgreSQL
	}
	p, err := c.session.Prepare(text, types)
	if err != nil {
		return err
	}
	if err := c.session.Store(name, p); err != nil {
		return err
	}
	c.out.bare('1')
	return nil
}

// bind creates a portal from a prepared statement.
func (c *conn) bind(r *body) error {
	name, statement := r.text(), r.text()
	if err := r.Err(); err != nil {
		return c.fail(err)
	}
	p, err := c.session.Statement(statement)
	if err != nil {
		return err
	}
	args, err := c.arguments(r, name, statement, p)
	if err != nil {
		return c.fail(err)
	}
	formats := r.formats()
	if err := r.end(); err != nil {
		return c.fail(err)
	}
	portal, err := c.session.Open(p, args)
	if err != nil {
		return err
	}
	if portal.Formats, err = formatsOf(formats, len(portal.Columns)); err != nil {
		return c.fail(err)
	}
	if err := c.session.Bind(name, portal); err != nil {
		return err
	}
	c.out.bare('2')
	return nil
}

// arguments reads the parameters of a Bind.
func (c *conn) arguments(r *body, portal, statement string, p *sql.Prepared) ([]value.Datum, error) {
	formats := r.formats()
	n := int(r.Uint16())
	switch err := r.Err(); {
	case err != nil:
		return nil, err
	case len(formats) > 1 && len(formats) != n:
		return nil, pgerror.New(pgerror.ProtocolViolation, "bind message has %d parameter formats but %d parameters", len(formats), n)
	case n != len(p.Params):
		return nil, pgerror.New(pgerror.ProtocolViolation, `bind message supplies %d parameters, but prepared statement "%s" requires %d`,
			n, statement, len(p.Params))
	case n == 0:
		return nil, nil
	}
	args := make([]value.Datum, n)
	set := c.session.Settings()
	for i := range args {
		b, null := r.value()
		if err := r.Err(); err != nil {
			return nil, atParameter(err, portal, i+1, "")
		}
		if null {
			continue
		}
		format := formatAt(formats, i)
		b, err := c.decoded(p.Params[i], format, b)
		text := ""
		if err == nil && format == textFormat {
			text = string(b)
			err = charset.Valid(text)
		}
		if err != nil {
			return nil, atParameter(err, portal, i+1, "")
		}
		if format == binaryFormat {
			if args[i], err = value.ParseBinary(p.Params[i], b); err != nil {
				return nil, atParameter(err, portal, i+1, "")
			}
		} else if args[i], err = value.Parse(p.Params[i], text, &set); err != nil {
			shown := " = '...'" // PostgreSQL does not show the value by default
			if len(b) == 0 {
				shown = " = ''"
			}
			return nil, atParameter(err, portal, i+1, shown)
		}
	}
	return args, nil
}

// decoded returns a parameter with its texts in UTF-8.
func (c *conn) decoded(t *value.Type, format int16, b []byte) ([]byte, error) {
	if format != textFormat && format != binaryFormat {
		return nil, unsupportedFormat(format)
	}
	if c.encoding != nil {
		return c.decodeParameter(t, format, b)
	}
	return b, nil
}

// atParameter adds to an error which parameter it is about.
func atParameter(err error, portal string, number int, shown string) error {
	known, ok := errors.AsType[*pgerror.Error](err)
	if !ok {
		return err
	}
	made := *known
	if value.IsTrailing(err) {
		made.Message += fmt.Sprint(" in bind parameter ", number)
	}
	if made.Context != "" {
		made.Context += "\n"
	}
	of := "unnamed portal"
	if portal != "" {
		of = fmt.Sprintf(`portal "%s"`, portal)
	}
	made.Context += fmt.Sprintf("%s parameter $%d%s", of, number, shown)
	return &made
}

// describe sends the parameters and columns of a statement, or the columns of a portal.
func (c *conn) describe(r *body) error {
	kind, name := r.byte(), r.text()
	if err := r.end(); err != nil {
		return c.fail(err)
	}
	switch kind {
	case ofStatement:
		p, err := c.session.Statement(name)
		if err != nil {
			return err
		}
		if err := c.describable(p.Columns); err != nil {
			return err
		}
		c.parameterDescription(p.Params)
		return c.rowDescription(p.Columns, nil)
	case ofPortal:
		p, err := c.session.Portal(name)
		if err != nil {
			return err
		}
		if err := c.describable(p.Columns); err != nil {
			return err
		}
		return c.rowDescription(p.Columns, p.Formats)
	default:
		return c.fail(pgerror.New(pgerror.ProtocolViolation, "invalid DESCRIBE message subtype %d", kind))
	}
}

// describable returns an error for a statement that returns rows in a failed transaction, as in
// PostgreSQL: it will return none.
func (c *conn) describable(columns []value.Field) error {
	if len(columns) > 0 && c.session.Status() == 'E' {
		return sql.Aborted()
	}
	return nil
}

// execute runs a portal, up to its row limit.
func (c *conn) execute(r *body) error {
	name, most := r.text(), r.int32()
	if err := r.end(); err != nil {
		return c.fail(err)
	}
	p, err := c.session.Portal(name)
	if err != nil {
		return err
	}
	if p.Spent() && c.session.Status() != 'E' {
		return c.fail(pgerror.New("55000", `portal "%s" cannot be run`, name))
	}
	limit := max(int(most), 0) // negative limits also mean no limit
	if c.session.AsksLast(p) {
		if p.Last = c.syncFollows(); c.over {
			return nil
		}
	}
	ctx := c.running.begin(p.Text)
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

// syncFollows waits for the next message and reports whether it is a Sync. The wait cannot
// deadlock: a client that waits for answers must first send Sync or Flush. The body of the previous
// message is invalid afterwards.
func (c *conn) syncFollows() bool {
	next, ok := c.receive()
	if !ok {
		c.over = true
		return false
	}
	c.ahead = next
	return next.kind == 'S'
}

// close forgets a statement or a portal. It is not an error if there is none.
func (c *conn) close(r *body) error {
	kind, name := r.byte(), r.text()
	if err := r.end(); err != nil {
		return c.fail(err)
	}
	switch kind {
	case ofStatement:
		c.session.Deallocate(name)
	case ofPortal:
		c.session.Release(name)
	default:
		return c.fail(pgerror.New(pgerror.ProtocolViolation, "invalid CLOSE message subtype %d", kind))
	}
	c.out.bare('3')
	return nil
}

// flush writes the buffered output at once.
func (c *conn) flush(r *body) error {
	if err := r.end(); err != nil {
		return c.fail(err)
	}
	c.out.flush() //nolint:errcheck // the next read reports the error
	return nil
}
