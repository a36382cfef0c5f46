package pgwire

import (
	"context"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql"
)

// query runs the statements of a simple query.
func (c *conn) query(r *body) {
	text := r.text()
	if err := r.end(); err != nil {
		c.problem(c.fail(err))
		c.sync()
		return
	}
	ctx := c.running.begin(text)
	err := c.runAll(ctx, text)
	if err == nil {
		c.running.done()
		c.ready()
		return
	}
	c.problem(err)
	c.running.done()
	c.sync()
}

// runAll runs the statements one by one up to the first error. The completion of the last statement
// is sent only after the transaction has been committed.
func (c *conn) runAll(ctx context.Context, text string) error {
	c.session.Deallocate("") // as PostgreSQL does
	list, err := c.session.Split(text)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		if err := c.session.Sync(ctx); err != nil {
			return err
		}
		c.out.bare('I')
	}
	for i, p := range list {
		tag, err := c.runOne(ctx, p)
		if err == nil && i == len(list)-1 {
			err = c.session.Sync(ctx)
		}
		if err != nil {
			return err
		}
		c.complete(tag)
	}
	return nil
}

// runOne runs a statement to completion.
func (c *conn) runOne(ctx context.Context, p *sql.Prepared) (tag string, err error) {
	c.session.Release("") // as PostgreSQL does
	portal, err := c.session.Open(p, nil)
	if err != nil {
		return "", err
	}
	if portal.Columns != nil {
		if err := c.rowDescription(portal.Columns, portal.Formats); err != nil {
			return "", c.fail(err)
		}
	}
	_, tag, err = c.session.Fetch(ctx, portal, 0, c.rows(portal))
	return tag, err
}

// complete sends the completion of a statement. A statement without a tag was empty.
func (c *conn) complete(tag string) {
	if tag == "" {
		c.out.bare('I')
		return
	}
	c.out.text('C', tag)
}
