package query

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// insertion is a planned INSERT.
type insertion struct {
	into     schema.Inserter
	fields   []value.Field
	cols     []int // target columns of the values of q
	q        query
	set      []bool // by column; with DEFAULT in VALUES, each row has its own
	rowSets  [][]bool
	conflict *conflict // nil: a conflicting row is an error
	back     *returning
}

// returning is RETURNING. The row of its level begins with the columns of the relation.
type returning struct {
	l    *level
	base int
	out  []expr.Expr
	cols []value.Field
}

// Insert plans INSERT.
func (p *Planner) Insert(n *pg.InsertStmt) (Change, error) {
	if n.Override != pg.OverridingKind_OVERRIDING_NOT_SET && n.Override != pg.OverridingKind_OVERRIDING_KIND_UNDEFINED {
		return Change{}, pgerror.Unsupported("OVERRIDING")
	}
	r, err := p.Relation(n.Relation)
	if err != nil {
		return Change{}, err
	}
	into, ok := r.(schema.Inserter)
	if !ok {
		return Change{}, cannot(r, "INSERT", "insert into", "Views made with mbus4.create_view take rows.")
	}
	in := &insertion{into: into, fields: r.Columns()}
	if n.OnConflictClause != nil {
		if in.conflict, err = p.conflict(n.OnConflictClause, r, n.Relation); err != nil {
			return Change{}, err
		}
	}
	if err := in.columns(p, n, r.Name()); err != nil {
		return Change{}, err
	}
	if err := in.source(p, n); err != nil {
		return Change{}, err
	}
	made := Change{Run: in.run}
	if len(n.ReturningList) > 0 {
		if in.back, err = p.returning(n.ReturningList, r, n.Relation); err != nil {
			return Change{}, err
		}
		made.Columns = in.back.cols
	}
	return made, nil
}

// columns determines the target columns.
func (in *insertion) columns(p *Planner, n *pg.InsertStmt, name string) error {
	in.set = make([]bool, len(in.fields))
	if len(n.Cols) == 0 {
		for i := range in.fields {
			in.cols = append(in.cols, i)
		}
		return nil
	}
	for _, c := range n.Cols {
		t := c.GetResTarget()
		i := schema.Column(in.fields, t.Name)
		switch {
		case i < 0:
			return pgerror.New(pgerror.UndefinedColumn, `column "%s" of relation "%s" does not exist`, t.Name, name).At(p.Text, t.Location)
		case slices.Contains(in.cols, i):
			return pgerror.New("42701", `column "%s" specified more than once`, t.Name).At(p.Text, t.Location)
		case len(t.Indirection) > 0:
			return pgerror.Unsupported("a part of a column in INSERT").At(p.Text, t.Location)
		}
		in.cols = append(in.cols, i)
	}
	return nil
}

// source plans the rows to insert.
func (in *insertion) source(p *Planner, n *pg.InsertStmt) error {
	sel := n.SelectStmt.GetSelectStmt()
	if sel == nil { // DEFAULT VALUES
		in.cols, in.q = nil, &valuesQuery{l: p.level(nil), lists: [][]expr.Expr{{}}}
		return nil
	}
	if len(sel.ValuesLists) > 0 && len(sel.SortClause) == 0 && sel.LimitCount == nil && sel.LimitOffset == nil {
		return in.values(p, n, sel)
	}
	l := p.level(nil)
	if err := l.with(n.WithClause); err != nil {
		return err
	}
	q, err := p.pendingQuery(sel, l)
	if err != nil {
		return err
	}
	if err := in.checkWidth(p, n, len(q.columns()), firstTarget(sel)); err != nil {
		return err
	}
	for i, c := range q.columns() {
		if to := in.fields[in.cols[i]]; c.Type != to.Type {
			if _, err := l.compiler().Assign(standIn(i, c.Type), to.Type, -1, to.Name, -1); err != nil {
				return err
			}
			if err := q.convert(i, to.Type); err != nil {
				return err
			}
		}
	}
	in.q = &framed{q, l.frame}
	return nil
}

// framed is a query with the level of the enclosing statement.
type framed struct {
	query
	frame *frame
}

func (f *framed) run(env *expr.Env, emit func([]value.Datum) error) error {
	_, around, inside := f.frame.push(env)
	env.Rows = inside
	defer func() { env.Rows = around }()
	return f.query.run(env, emit)
}

func (in *insertion) checkWidth(p *Planner, n *pg.InsertStmt, width int, location int32) error {
	switch {
	case width > len(in.cols):
		return pgerror.New(pgerror.SyntaxError, "INSERT has more expressions than target columns").At(p.Text, location)
	case width < len(in.cols) && len(n.Cols) > 0:
		return pgerror.New(pgerror.SyntaxError, "INSERT has more target columns than expressions").
			At(p.Text, n.Cols[width].GetResTarget().GetLocation())
	}
	in.cols = in.cols[:width]
	return nil
}

// values plans VALUES lists, which may contain DEFAULT.
func (in *insertion) values(p *Planner, n *pg.InsertStmt, sel *pg.SelectStmt) error {
	l := p.level(nil)
	for _, w := range []*pg.WithClause{n.WithClause, sel.WithClause} {
		if err := l.with(w); err != nil {
			return err
		}
	}
	q := &valuesQuery{l: l}
	for r, list := range sel.ValuesLists {
		items := list.GetList().GetItems()
		if r > 0 && len(items) != len(q.lists[0]) {
			return l.error(pgerror.SyntaxError, expr.Location(items[0]), "VALUES lists must all be the same length")
		}
		if r == 0 {
			location := int32(-1)
			if len(items) > len(in.cols) {
				location = expr.Location(items[len(in.cols)])
			}
			if err := in.checkWidth(p, n, len(items), location); err != nil {
				return err
			}
		}
		row, set := make([]expr.Expr, len(items)), make([]bool, len(in.fields))
		for i, item := range items {
			to := in.fields[in.cols[i]]
			if item.GetSetToDefault() != nil {
				row[i] = expr.NewConst(to.Type, nil)
				continue
			}
			var err error
			row[i], err = l.in(clause{name: "VALUES"}, func(x *expr.Compiler) (expr.Expr, error) { return x.CompileAs(item, to.Type, -1, to.Name) })
			if err != nil {
				return err
			}
			set[in.cols[i]] = true
		}
		q.lists, in.rowSets = append(q.lists, row), append(in.rowSets, set)
	}
	for _, i := range in.cols {
		q.cols = append(q.cols, in.fields[i])
	}
	in.q = q
	return nil
}

// returning plans RETURNING over the row of a relation.
func (p *Planner) returning(list []*pg.Node, r schema.Relation, as *pg.RangeVar) (*returning, error) {
	l := p.level(nil)
	fields := schema.ResultColumns(r)
	back := &returning{l: l, base: l.slot(len(fields))}
	ns, err := l.bring(as.Alias, as.Relname, as.Schemaname, fields, back.base, nil)
	if err != nil {
		return nil, err
	}
	l.visible = []*namespace{ns}
	targets, err := l.expandStars(list)
	if err != nil {
		return nil, err
	}
	for _, t := range targets {
		e := t.e
		if e == nil {
			if e, err = l.compileText(t.n, clause{name: "RETURNING"}); err != nil {
				return nil, err
			}
		}
		back.out = append(back.out, e)
		back.cols = append(back.cols, field(t.name, e))
	}
	return back, nil
}

// row returns the RETURNING values for a row of the relation.
func (b *returning) row(env *expr.Env, of []value.Datum) ([]value.Datum, error) {
	row, around, inside := b.l.push(env)
	copy(row[b.base:], of)
	env.Rows = inside
	defer func() { env.Rows = around }()
	out, _, err := expr.EvalArgs(env, b.out)
	return out, err
}

func (in *insertion) run(env *expr.Env) (Result, error) {
	var out Result
	n, read := 0, 0
	err := in.q.run(env, func(vals []value.Datum) error {
		row, set := make([]value.Datum, len(in.fields)), in.set
		if in.rowSets != nil {
			set = in.rowSets[read]
		} else {
			set = slices.Clone(set)
			for _, c := range in.cols {
				set[c] = true
			}
		}
		for i, c := range in.cols {
			row[c] = vals[i]
		}
		read++
		stored, err := in.store(env, row, set)
		if err != nil || stored == nil {
			return err
		}
		n++
		if in.back != nil {
			back, err := in.back.row(env, stored)
			if err != nil {
				return err
			}
			out.Rows = append(out.Rows, back)
		}
		return nil
	})
	out.Tag = CountTag("INSERT 0 ", n)
	return out, err
}

// store inserts a row. It returns nil if the row existed and is unchanged.
func (in *insertion) store(env *expr.Env, row []value.Datum, set []bool) ([]value.Datum, error) {
	if in.conflict != nil {
		if stored, done, err := in.conflict.settle(env, row); done || err != nil {
			return stored, err
		}
	}
	return in.into.Insert(env, row, set)
}
