package query

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/query/exec"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/tree"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// selectQuery is a plain SELECT. Rows pass through the steps in the order of the fields.
type selectQuery struct {
	l        *level      // of its expressions
	from     source      // nil: one row of nothing
	gates    []expr.Expr // evaluated once, before FROM is read
	merged   []mergedGate
	where    []expr.Expr
	group    *exec.Grouping
	windows  []*exec.Window
	sets     []*exec.RowSet
	early    bool       // sets are expanded before sorting, because the order depends on them
	before   []computed // computed before sorting
	distinct bool       // of rows, by the values in before
	order    []exec.SortKey
	on       []expr.Expr // DISTINCT ON
	out      []expr.Expr
	cols     []value.Field
	limits   exec.Limits
}

// doomed is the error of constants in the query, whether or not there are rows; nil: they are good.
// What stands in FROM, in sub-selects or in aggregates fails when it is evaluated.
func (q *selectQuery) doomed() error {
	all := slices.Clone(q.out)
	for _, c := range q.before {
		all = append(all, c.e)
	}
	for _, k := range q.order {
		all = append(all, k.Expr)
	}
	for _, e := range append(all, q.limits.Offset, q.limits.Limit) {
		if err := expr.Doomed(e); err != nil {
			return err
		}
	}
	return q.l.doomed
}

// computed is an expression whose value is kept in a slot.
type computed struct {
	e    expr.Expr
	slot int
}

var (
	selectClause = clause{name: "SELECT", aggregates: true, sets: true}
	orderClause  = clause{name: "ORDER BY", aggregates: true, sets: true}
)

// selects plans a plain SELECT.
func (l *level) selects(n *pg.SelectStmt) (pending, error) {
	q := &selectQuery{l: l}
	var err error
	if q.from, err = l.fromList(n.FromClause); err != nil {
		return nil, err
	}
	if q.from, q.gates, q.where, err = l.where(q.from, n.WhereClause); err != nil {
		return nil, err
	}
	targets, err := l.expandStars(n.TargetList)
	if err != nil {
		return nil, err
	}
	g := &exec.Grouping{}
	if err := l.groupBy(n, targets, g); err != nil {
		return nil, err
	}
	if err := q.targets(targets); err != nil {
		return nil, err
	}
	if n.HavingClause != nil {
		if g.Having, err = l.condition(n.HavingClause, clause{name: "HAVING", aggregates: true}); err != nil {
			return nil, err
		}
		if havingGate(g.Having) {
			q.gates = append(q.gates, g.Having)
		}
	}
	if err := q.orderBy(n, targets); err != nil {
		return nil, err
	}
	if g.Aggs = l.aggs; len(g.Aggs) > 0 || len(n.GroupClause) > 0 || g.Having != nil {
		q.group = g
		if err := l.checkGrouped(); err != nil {
			return nil, err
		}
	}
	q.sets, q.windows = l.sets, l.windows
	q.early = q.sortsSets()
	if q.limits, err = l.limits(n); err != nil {
		return nil, err
	}
	q.from = l.keepScans(q.from, l.depth > 0)
	q.merge()
	return q, nil
}

// target is one column of the select list: a tree or, if e is set, an expanded asterisk.
type target struct {
	name string
	n    *pg.Node
	e    expr.Expr
}

// expandStars expands *, t.* and (row).*.
func (l *level) expandStars(list []*pg.Node) ([]target, error) {
	var all []target
	for _, item := range list {
		r := item.GetResTarget()
		made, starred, err := l.expandStar(r.Val)
		if err != nil {
			return nil, err
		}
		if starred {
			all = append(all, made...)
			continue
		}
		name := r.Name
		if name == "" {
			name = tree.ColumnName(r.Val)
		}
		all = append(all, target{name: name, n: r.Val})
	}
	return all, nil
}

func (l *level) expandStar(n *pg.Node) (all []target, starred bool, err error) {
	if ref := n.GetColumnRef(); ref != nil && ref.Fields[len(ref.Fields)-1].GetAStar() != nil {
		all, err = l.columnsOf(ref)
		return all, true, err
	}
	ind := n.GetAIndirection()
	if ind == nil || len(ind.Indirection) == 0 || ind.Indirection[len(ind.Indirection)-1].GetAStar() == nil {
		return nil, false, nil
	}
	inner := ind.Arg
	if steps := ind.Indirection[:len(ind.Indirection)-1]; len(steps) > 0 {
		inner = &pg.Node{Node: &pg.Node_AIndirection{AIndirection: &pg.A_Indirection{Arg: ind.Arg, Indirection: steps}}}
	}
	e, err := l.compile(inner, selectClause)
	if err != nil {
		return nil, true, err
	}
	if len(e.Type().Fields) == 0 {
		return nil, true, l.error(pgerror.WrongObjectType, expr.Location(inner), "type %s is not composite", e.Type())
	}
	e = l.once(e)
	for i, f := range e.Type().Fields {
		all = append(all, target{name: f.Name, e: expr.Field(e, i)})
	}
	return all, true, nil
}

// star is the columns of * or t.* in an expression.
func (l *level) star(ref *pg.ColumnRef) ([]expr.Expr, error) {
	all, err := l.columnsOf(ref)
	columns := make([]expr.Expr, len(all))
	for i, t := range all {
		columns[i] = t.e
	}
	return columns, err
}

// columnsOf are those of * or t.*.
func (l *level) columnsOf(ref *pg.ColumnRef) ([]target, error) {
	var all []target
	if len(ref.Fields) == 1 {
		if len(l.visible) == 0 {
			return nil, l.error(pgerror.SyntaxError, ref.Location, "SELECT * with no tables specified is not valid")
		}
		for _, ns := range l.visible {
			for _, c := range ns.cols {
				all = append(all, target{name: c.name, e: l.ref(0, c, ref.Location, l)})
			}
		}
		return all, nil
	}
	parts := tree.Names(ref.Fields[:len(ref.Fields)-1])
	schema, alias := "", parts[len(parts)-1]
	if len(parts) > 1 {
		schema = parts[len(parts)-2]
	}
	for at, up := l, 0; at != nil; at, up = at.parent, up+1 {
		if it := at.item(schema, alias); it != nil {
			for _, c := range it.cols {
				all = append(all, target{name: c.name, e: l.ref(up, c, ref.Location, at)})
			}
			return all, nil
		}
	}
	return nil, l.error(pgerror.UndefinedTable, ref.Location, `missing FROM-clause entry for table "%s"`, alias)
}

// targets compiles the select list.
func (q *selectQuery) targets(list []target) error {
	for _, t := range list {
		e := t.e
		if e == nil {
			var err error
			if e, err = q.l.compile(t.n, selectClause); err != nil {
				return err
			}
		}
		q.out = append(q.out, e)
		q.cols = append(q.cols, field(t.name, e))
	}
	return nil
}

// field is the column of a result with the values of e.
func field(name string, e expr.Expr) value.Field {
	f := value.Field{Name: name, Type: e.Type(), Mod: expr.Typmod(e) + 1}
	if r, ok := e.(*slotRef); ok {
		f.Origin = r.from
	}
	return f
}

// groupBy plans GROUP BY. Each key has a slot that later expressions refer to.
func (l *level) groupBy(n *pg.SelectStmt, targets []target, g *exec.Grouping) error {
	if n.GroupDistinct {
		return pgerror.Unsupported("GROUP BY DISTINCT")
	}
	var cols []value.Field
	var known map[string]*slotRef
	if len(n.GroupClause) > 0 {
		known = map[string]*slotRef{}
		for _, t := range targets {
			cols = append(cols, value.Field{Name: t.name})
		}
	}
	for _, item := range n.GroupClause {
		if item.GetGroupingSet() != nil {
			return pgerror.Unsupported("a grouping set").At(l.p.Text, item.GetGroupingSet().Location)
		}
		e, node, err := l.groupKey(item, cols, targets)
		if err != nil {
			return err
		}
		ref, plain := e.(*slotRef)
		if !plain || ref.up > 0 {
			ref = &slotRef{slot: l.slot(1), typ: e.Type()}
		}
		if node != nil {
			known[tree.Text(node)] = ref
		}
		if l.columns == nil {
			l.columns = map[int]bool{}
		}
		l.columns[ref.slot] = true
		g.Keys, g.Slots = append(g.Keys, e), append(g.Slots, ref.slot)
	}
	l.keys, l.mentioned = known, nil
	for _, t := range targets {
		if r, ok := t.e.(*slotRef); ok && r.up == 0 {
			l.mentioned = append(l.mentioned, r)
		}
	}
	return nil
}

// groupKey compiles one item of GROUP BY: the number or the name of a target, or an expression.
func (l *level) groupKey(item *pg.Node, cols []value.Field, targets []target) (expr.Expr, *pg.Node, error) {
	i := -1
	if ref := item.GetColumnRef(); ref == nil || len(ref.Fields) != 1 || !l.hasColumn(ref.Fields[0].GetString_().GetSval()) {
		var err error
		same := func(i, j int) bool { return l.sameTarget(targets[i], targets[j]) }
		if i, err = l.resultColumn(item, cols, "GROUP BY", same); err != nil {
			return nil, nil, err
		}
	}
	if i >= 0 {
		if targets[i].e != nil {
			return targets[i].e, nil, nil
		}
		item = targets[i].n
	}
	e, err := l.compileText(item, clause{name: "GROUP BY"})
	return e, item, err
}

// sameTarget reports whether two targets are the same expression, or name the same column.
func (l *level) sameTarget(a, b target) bool {
	if a.n != nil && b.n != nil && tree.Text(a.n) == tree.Text(b.n) {
		return true
	}
	x, y := l.columnOf(a), l.columnOf(b)
	return x != nil && y != nil && x.up == y.up && x.slot == y.slot
}

// columnOf is the column that a target is; nil: it is another expression.
func (l *level) columnOf(t target) *slotRef {
	e := t.e
	if e == nil && t.n.GetColumnRef() != nil {
		e, _ = l.compileText(t.n, clause{name: "GROUP BY"})
	}
	ref, _ := e.(*slotRef)
	return ref
}

func (l *level) hasColumn(name string) bool {
	return slices.ContainsFunc(l.visible, func(ns *namespace) bool {
		return slices.ContainsFunc(ns.cols, func(c *column) bool { return c.name == name })
	})
}

// orderBy plans ORDER BY and DISTINCT. A sort key that is also a column is computed once.
func (q *selectQuery) orderBy(n *pg.SelectStmt, targets []target) error {
	on, distinct := distinctOf(n)
	if q.distinct = distinct; distinct {
		for i := range q.out {
			q.compute(i)
		}
	}
	for _, item := range n.SortClause {
		sort := item.GetSortBy()
		e, err := q.orderKey(sort.Node, "ORDER BY", targets)
		if err != nil {
			return err
		}
		q.order = append(q.order, newSortKey(e, sort))
	}
	for _, item := range on {
		e, err := q.orderKey(item, "DISTINCT ON", targets)
		if err != nil {
			return err
		}
		q.on = append(q.on, e)
	}
	return nil
}

func distinctOf(n *pg.SelectStmt) (on []*pg.Node, distinct bool) {
	for _, d := range n.DistinctClause {
		if d.GetNode() != nil {
			on = append(on, d)
		}
	}
	return on, len(n.DistinctClause) > 0 && len(on) == 0
}

// orderKey compiles one item of ORDER BY or DISTINCT ON.
func (q *selectQuery) orderKey(n *pg.Node, clause string, targets []target) (expr.Expr, error) {
	i, err := q.l.resultColumn(n, q.cols, clause, func(i, j int) bool {
		return q.l.sameTarget(targets[i], targets[j]) || q.sourceSlot(i) >= 0 && q.sourceSlot(i) == q.sourceSlot(j)
	})
	if err != nil {
		return nil, err
	}
	if i < 0 {
		text := tree.Text(n)
		i = slices.IndexFunc(targets, func(t target) bool { return t.n != nil && tree.Text(t.n) == text })
	}
	if i >= 0 {
		if q.cols[i].Type == value.Unknown {
			if err := q.convert(i, value.Text); err != nil {
				return nil, err
			}
		}
		return q.compute(i), nil
	}
	e, err := q.l.compileText(n, orderClause)
	if err == nil && q.distinct {
		if r, ok := e.(*slotRef); ok {
			for i := range q.out {
				if q.sourceSlot(i) == r.slot && r.up == 0 {
					return q.out[i], nil
				}
			}
		}
		return nil, q.l.error("42P10", expr.Location(n), "for SELECT DISTINCT, ORDER BY expressions must appear in select list")
	}
	return e, err
}

// sourceSlot returns the slot that column i is a plain copy of, or -1.
func (q *selectQuery) sourceSlot(i int) int {
	r, ok := q.out[i].(*slotRef)
	if !ok || r.up > 0 {
		return -1
	}
	for _, c := range q.before {
		if c.slot == r.slot {
			if inner, ok := c.e.(*slotRef); ok && inner.up == 0 {
				return inner.slot
			}
			return -1
		}
	}
	return r.slot
}

// compute computes column i before sorting, and returns a reference to its value.
func (q *selectQuery) compute(i int) expr.Expr {
	if r, ok := q.out[i].(*slotRef); ok && r.up == 0 {
		return r
	}
	slot := q.l.slot(1)
	q.before = append(q.before, computed{q.out[i], slot})
	q.out[i] = &slotRef{slot: slot, typ: q.out[i].Type()}
	return q.out[i]
}

// sortsSets reports whether the values computed before sorting depend on set-returning functions.
func (q *selectQuery) sortsSets() bool {
	if q.distinct || len(q.on) > 0 {
		return true
	}
	found := false
	look := func(e expr.Expr) {
		expr.Walk(e, func(e expr.Expr) bool {
			if r, ok := e.(*slotRef); ok && r.up == 0 {
				found = found || slices.ContainsFunc(q.sets, func(s *exec.RowSet) bool { return s.Slot == r.slot })
			}
			return !found
		})
	}
	for _, k := range q.order {
		look(k.Expr)
	}
	for _, c := range q.before {
		look(c.e)
	}
	return found
}

func (q *selectQuery) columns() []value.Field { return q.cols }

func (q *selectQuery) convert(i int, t *value.Type) error {
	at := &q.out[i]
	if r, ok := q.out[i].(*slotRef); ok && r.up == 0 {
		for c := range q.before {
			if q.before[c].slot == r.slot {
				at = &q.before[c].e
				r.typ = t
			}
		}
	}
	e, err := q.l.compiler().Assign(*at, t, -1, q.cols[i].Name, -1)
	if err != nil {
		return err
	}
	*at, q.cols[i].Type, q.cols[i].Mod = e, t, 0
	return nil
}
