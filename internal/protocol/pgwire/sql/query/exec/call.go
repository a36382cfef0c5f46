package exec

import (
	"iter"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Calls are functions in FROM. Several functions are read in parallel (ROWS FROM).
type Calls struct {
	List       []*Call
	Base       int
	Ordinality int // the slot of the row number; -1 none
}

// Call is one function in FROM: a set-returning function, or any expression, which returns one row.
type Call struct {
	Fn     *expr.Function
	Args   []expr.Expr
	Scalar expr.Expr // used instead of Fn
	Base   int
	Width  int
	Spread bool // the value is a row that is expanded into the columns
}

// Type returns the type of the value or of each row.
func (c *Call) Type() *value.Type {
	if c.Fn != nil {
		return c.Fn.Returns
	}
	return c.Scalar.Type()
}

// IsVolatile reports whether the function, or the expression, is volatile.
func (c *Call) IsVolatile() bool {
	if c.Fn != nil {
		return c.Fn.Volatility == expr.Volatile
	}
	return expr.VolatilityOf(c.Scalar) == expr.Volatile
}

// arguments evaluates the arguments of a call. none reports whether a strict function has a NULL
// argument.
func arguments(fn *expr.Function, args []expr.Expr, env *expr.Env) (vals []value.Datum, none bool, err error) {
	vals, null, err := expr.EvalArgs(env, args)
	return vals, null && fn.Strict, err
}

// rowsOf calls a set-returning function.
func rowsOf(fn *expr.Function, args []expr.Expr, env *expr.Env) (iter.Seq2[[]value.Datum, error], error) {
	vals, none, err := arguments(fn, args, env)
	if err != nil {
		return nil, err
	}
	if none {
		return func(func([]value.Datum, error) bool) {}, nil
	}
	return fn.Rows(env, vals), nil
}

// rows returns the rows of a call, each as wide as its columns.
func (c *Call) rows(env *expr.Env) (iter.Seq2[[]value.Datum, error], error) {
	if c.Fn != nil {
		return rowsOf(c.Fn, c.Args, env)
	}
	d, err := c.Scalar.Eval(env)
	if err != nil {
		return nil, err
	}
	row := []value.Datum{d}
	if c.Spread {
		row = make([]value.Datum, c.Width)
		if r, ok := d.(value.Record); ok {
			copy(row, r)
		}
	}
	return func(yield func([]value.Datum, error) bool) { yield(row, nil) }, nil
}

// Run calls emit for each row.
func (s *Calls) Run(env *expr.Env, emit func() error) error {
	if len(s.List) > 1 {
		return s.runTogether(env, emit)
	}
	c := s.List[0]
	rows, err := c.rows(env)
	if err != nil {
		return err
	}
	n := int64(0)
	for row, err := range rows {
		if err == nil {
			err = env.Ctx.Err()
		}
		if err != nil {
			return err
		}
		copy(env.Rows[0][c.Base:c.Base+c.Width], row)
		n++
		s.number(env, n)
		if err := emit(); err != nil {
			return err
		}
	}
	return nil
}

// number fills in the number of the row.
func (s *Calls) number(env *expr.Env, n int64) {
	if s.Ordinality >= 0 {
		env.Rows[0][s.Ordinality] = n
	}
}

// runTogether implements ROWS FROM (f(), g()). Shorter results are padded with NULLs.
func (s *Calls) runTogether(env *expr.Env, emit func() error) error {
	var all []iter.Seq2[[]value.Datum, error]
	for _, c := range s.List {
		rows, err := c.rows(env)
		if err != nil {
			return err
		}
		all = append(all, rows)
	}
	n := int64(0)
	return inStep(all, func(rows [][]value.Datum) error {
		for i, c := range s.List {
			place := env.Rows[0][c.Base : c.Base+c.Width]
			clear(place)
			copy(place, rows[i])
		}
		n++
		s.number(env, n)
		return emit()
	})
}

// EachRow calls take and emit for each row, until the statement is canceled.
func EachRow(env *expr.Env, rows iter.Seq2[[]value.Datum, error], emit func() error, take func([]value.Datum)) error {
	for row, err := range rows {
		if err == nil {
			err = env.Ctx.Err()
		}
		if err != nil {
			return err
		}
		take(row)
		if err := emit(); err != nil {
			return err
		}
	}
	return nil
}

// inStep reads the sequences in parallel until all are exhausted. Exhausted sequences contribute
// nil.
func inStep(all []iter.Seq2[[]value.Datum, error], emit func(rows [][]value.Datum) error) error {
	type puller struct {
		next func() ([]value.Datum, error, bool)
		done bool
	}
	pullers := make([]puller, len(all))
	for i, seq := range all {
		next, stop := iter.Pull2(seq)
		defer stop()
		pullers[i].next = next
	}
	rows := make([][]value.Datum, len(all))
	for {
		some := false
		for i := range pullers {
			p := &pullers[i]
			rows[i] = nil
			if p.done {
				continue
			}
			row, err, ok := p.next()
			if err != nil {
				return err
			}
			if p.done = !ok; ok {
				rows[i], some = row, true
			}
		}
		if !some {
			return nil
		}
		if err := emit(rows); err != nil {
			return err
		}
	}
}

// ResultFields returns the columns of a set-returning function in FROM, or nil for one plain
// column, which is named after the call.
func ResultFields(fn *expr.Function) []value.Field {
	if len(fn.Columns) > 0 {
		return fn.Columns
	}
	return fn.Returns.Fields
}
