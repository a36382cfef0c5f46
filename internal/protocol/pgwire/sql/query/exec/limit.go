package exec

import (
	"errors"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// ErrStop ends a query whose remaining rows are not needed.
var ErrStop = errors.New("query: no more rows are wanted")

// Limits is LIMIT and OFFSET. Nil: there is none.
type Limits struct{ Limit, Offset expr.Expr }

// Counter tracks LIMIT and OFFSET in a run.
type Counter struct {
	skip, left int64 // left < 0: any number
	ended      bool  // the limit ended the query
}

// Start evaluates them.
func (m Limits) Start(env *expr.Env) (*Counter, error) {
	c := &Counter{left: -1}
	if m.Offset != nil {
		n, null, err := limitValue(m.Offset, env)
		switch {
		case err != nil:
			return nil, err
		case !null && n < 0:
			return nil, pgerror.New("2201X", "OFFSET must not be negative")
		}
		c.skip = n
	}
	if m.Limit != nil {
		n, null, err := limitValue(m.Limit, env)
		switch {
		case err != nil:
			return nil, err
		case !null && n < 0:
			return nil, pgerror.New("2201W", "LIMIT must not be negative")
		case !null:
			c.left = n
		}
	}
	return c, nil
}

func limitValue(e expr.Expr, env *expr.Env) (n int64, null bool, err error) {
	d, err := e.Eval(env)
	n, ok := d.(int64)
	return n, !ok, err
}

// None reports whether no row is wanted any more.
func (c *Counter) None() bool { return c.left == 0 }

// maxCut is the maximum number of rows for which cutting is worthwhile.
const maxCut = 1 << 20

// First returns how many of the rows can matter. It is negative if all of them can, or too many for
// a Sorter to cut the others.
func (c *Counter) First() int {
	if c.left < 0 || c.skip+c.left > maxCut {
		return -1
	}
	return int(c.skip + c.left)
}

// Pass emits a row or skips it. It ends the query after the last row.
func (c *Counter) Pass(row []value.Datum, emit func([]value.Datum) error) error {
	if c.skip > 0 {
		c.skip--
		return nil
	}
	if c.left > 0 {
		c.left--
	}
	if err := emit(row); err != nil {
		return err
	}
	if c.left == 0 {
		c.ended = true
		return ErrStop
	}
	return nil
}

// Stopped converts the end caused by the limit to success. It returns the ErrStop of an outer query
// unchanged.
func (c *Counter) Stopped(err error) error {
	if err == ErrStop && c.ended {
		return nil
	}
	return err
}
