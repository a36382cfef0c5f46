package query

import (
	"iter"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/tree"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// functionScan reads functions in FROM. Several functions are read in parallel (ROWS FROM).
type functionScan struct {
	calls      []*functionCall
	base       int
	ordinality int // the slot of the row number; -1 none
}

// functionCall is one function in FROM: a set-returning function, or any expression, which returns
// one row.
type functionCall struct {
	fn     *expr.Function
	args   []expr.Expr
	scalar expr.Expr // used instead of fn
	base   int
	width  int
	spread bool // the value is a row that is expanded into the columns
}

func (l *level) fromFunction(n *pg.RangeFunction) (source, *namespace, error) {
	s := &functionScan{ordinality: -1}
	var fields []value.Field
	name := ""
	var whole *value.Type
	functions := unnestEach(n.Functions)
	for i, f := range functions {
		parts := f.GetList().GetItems()
		if len(n.Coldeflist) > 0 || len(parts) > 1 && len(parts[1].GetList().GetItems()) > 0 {
			return nil, nil, pgerror.Unsupported("a column definition list")
		}
		call, fs, err := l.functionCall(parts[0])
		if err != nil {
			return nil, nil, err
		}
		s.calls = append(s.calls, call)
		called := tree.ColumnName(parts[0])
		if i == 0 {
			name = called
		}
		if fs == nil {
			fs = []value.Field{{Name: called, Type: call.typ()}}
			if n.Alias != nil && len(functions) == 1 {
				fs[0].Name = n.Alias.Aliasname
			}
		} else if len(functions) == 1 && !n.Ordinality {
			whole = call.typ()
		}
		call.width = len(fs)
		fields = append(fields, fs...)
	}
	if n.Ordinality {
		fields = append(fields, value.Field{Name: "ordinality", Type: value.Int8})
	}
	s.base = l.slot(len(fields))
	at := s.base
	for _, c := range s.calls {
		c.base = at
		at += c.width
	}
	if n.Ordinality {
		s.ordinality = at
	}
	ns, err := l.bring(n.Alias, name, "", fields, s.base, nil)
	if err == nil && whole != nil && whole.Kind == 'c' {
		ns.items[0].typ = whole
	}
	return s, ns, err
}

// unnestEach converts unnest(a, b) to the equivalent unnest(a), unnest(b).
func unnestEach(functions []*pg.Node) (all []*pg.Node) {
	for _, f := range functions {
		items := f.GetList().GetItems()
		call := items[0].GetFuncCall()
		if call == nil || len(call.Funcname) != 1 || tree.ColumnName(items[0]) != "unnest" || len(call.Args) < 2 || call.FuncVariadic ||
			call.AggOrder != nil || call.AggFilter != nil || call.Over != nil || call.AggStar || call.AggDistinct {
			all = append(all, f)
			continue
		}
		for _, arg := range call.Args {
			one := &pg.Node{Node: &pg.Node_FuncCall{FuncCall: &pg.FuncCall{Funcname: call.Funcname, Args: []*pg.Node{arg}, Location: call.Location}}}
			list := &pg.List{Items: append([]*pg.Node{one}, items[1:]...)}
			all = append(all, &pg.Node{Node: &pg.Node_List{List: list}})
		}
	}
	return all
}

func (c *functionCall) typ() *value.Type {
	if c.fn != nil {
		return c.fn.Returns
	}
	return c.scalar.Type()
}

// functionCall plans one call. fields is nil for a function that returns one plain column.
func (l *level) functionCall(n *pg.Node) (*functionCall, []value.Field, error) {
	call := &functionCall{}
	in := clause{name: "functions in FROM", sets: true}
	before := len(l.sets)
	e, err := l.compileText(n, in)
	if err != nil {
		return nil, nil, err
	}
	l.noteLateral()
	if made := l.sets[before:]; len(made) > 0 {
		ref, ok := e.(*slotRef)
		if !ok || ref.slot != made[len(made)-1].slot || len(made) > 1 {
			return nil, nil, pgerror.New(pgerror.FeatureNotSupported, "set-returning functions must appear at top level of FROM").
				At(l.p.Text, expr.Location(n))
		}
		set := made[0]
		l.sets = l.sets[:before]
		call.fn, call.args = set.fn, set.args
		return call, resultFields(set.fn), nil
	}
	call.scalar = e
	if fields := e.Type().Fields; len(fields) > 0 {
		call.spread = true
		return call, fields, nil
	}
	return call, nil, nil
}

// resultFields returns the columns of a set-returning function in FROM, or nil for one plain
// column, which is named after the call.
func resultFields(fn *expr.Function) []value.Field {
	if len(fn.Columns) > 0 {
		return fn.Columns
	}
	return fn.Returns.Fields
}

// arguments evaluates the arguments of a call. none reports whether a strict function has a NULL
// argument.
func arguments(fn *expr.Function, args []expr.Expr, env *expr.Env) (vals []value.Datum, none bool, err error) {
	vals, null, err := expr.EvalArgs(env, args)
	return vals, null && fn.Strict, err
}

// rows returns the rows of a call, each as wide as its columns.
func (c *functionCall) rows(env *expr.Env) (iter.Seq2[[]value.Datum, error], error) {
	if c.fn != nil {
		args, none, err := arguments(c.fn, c.args, env)
		if err != nil {
			return nil, err
		}
		if none {
			return func(func([]value.Datum, error) bool) {}, nil
		}
		return c.fn.Rows(env, args), nil
	}
	d, err := c.scalar.Eval(env)
	if err != nil {
		return nil, err
	}
	row := []value.Datum{d}
	if c.spread {
		row = make([]value.Datum, c.width)
		if r, ok := d.(value.Record); ok {
			copy(row, r)
		}
	}
	return func(yield func([]value.Datum, error) bool) { yield(row, nil) }, nil
}

func (s *functionScan) run(env *expr.Env, emit func() error) error {
	if len(s.calls) > 1 {
		return s.runTogether(env, emit)
	}
	c := s.calls[0]
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
		copy(env.Rows[0][c.base:c.base+c.width], row)
		if n++; s.ordinality >= 0 {
			env.Rows[0][s.ordinality] = n
		}
		if err := emit(); err != nil {
			return err
		}
	}
	return nil
}

// runTogether implements ROWS FROM (f(), g()). Shorter results are padded with NULLs.
func (s *functionScan) runTogether(env *expr.Env, emit func() error) error {
	var all []iter.Seq2[[]value.Datum, error]
	for _, c := range s.calls {
		rows, err := c.rows(env)
		if err != nil {
			return err
		}
		all = append(all, rows)
	}
	n := int64(0)
	return inStep(all, func(rows [][]value.Datum) error {
		for i, c := range s.calls {
			place := env.Rows[0][c.base : c.base+c.width]
			clear(place)
			copy(place, rows[i])
		}
		if n++; s.ordinality >= 0 {
			env.Rows[0][s.ordinality] = n
		}
		return emit()
	})
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
