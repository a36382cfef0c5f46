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

func (l *level) fromJoin(n *pg.JoinExpr) (source, *namespace, error) {
	j := newJoin(n.Jointype, l.width)
	around := l.visible
	defer func() { l.visible = around }()
	left, leftNames, err := l.from(n.Larg)
	if err != nil {
		return nil, nil, err
	}
	l.visible = append(slices.Clip(around), leftNames)
	j.From = l.width
	mark := len(l.lateral)
	right, rightNames, err := l.from(n.Rarg)
	if err != nil {
		return nil, nil, err
	}
	if err := l.checkNames(rightNames); err != nil {
		return nil, nil, err
	}
	j.left, j.right, j.To, j.Again = left, right, l.width, l.dependsOnLeft(mark, j.From)
	if j.Again && j.OuterRight {
		return nil, nil, pgerror.Unsupported("LATERAL on the right of a RIGHT or FULL JOIN")
	}
	both := &namespace{items: slices.Concat(leftNames.items, rightNames.items)}
	l.visible = []*namespace{leftNames, rightNames}
	if err := l.joinCondition(n, j, leftNames, rightNames, both); err != nil {
		return nil, nil, err
	}
	for _, side := range j.missing(leftNames, rightNames) {
		for _, it := range side.items {
			it.outer = true
		}
	}
	if n.Alias != nil {
		it := &item{alias: n.Alias.Aliasname}
		for i, c := range both.cols {
			renamed := *c
			if i < len(n.Alias.Colnames) {
				renamed.name = n.Alias.Colnames[i].GetString_().GetSval()
			}
			it.cols = append(it.cols, &renamed)
		}
		both = &namespace{items: []*item{it}, cols: it.cols}
	}
	return j, both, nil
}

// missing returns the sides of an outer join whose rows may be missing.
func (j *join) missing(left, right *namespace) []*namespace {
	switch j.kind {
	case pg.JoinType_JOIN_LEFT:
		return []*namespace{right}
	case pg.JoinType_JOIN_RIGHT:
		return []*namespace{left}
	case pg.JoinType_JOIN_FULL:
		return []*namespace{left, right}
	}
	return nil
}

// joinCondition plans ON, USING or NATURAL, and determines the columns of the join.
func (l *level) joinCondition(n *pg.JoinExpr, j *join, left, right, both *namespace) error {
	shared := tree.Names(n.UsingClause)
	if n.IsNatural {
		for _, c := range left.cols {
			if slices.ContainsFunc(right.cols, func(r *column) bool { return r.name == c.name }) {
				shared = append(shared, c.name)
			}
		}
	}
	for _, name := range shared {
		if err := l.using(name, j, left, right, both); err != nil {
			return err
		}
	}
	rest := func(c *column) bool { return !slices.Contains(shared, c.name) }
	for _, side := range []*namespace{left, right} {
		for _, c := range side.cols {
			if rest(c) {
				both.cols = append(both.cols, c)
			}
		}
	}
	for _, part := range tree.Conjuncts(n.Quals) {
		if err := l.joinOn(part, j); err != nil {
			return err
		}
	}
	return nil
}

// joinOn adds one condition to a join.
func (l *level) joinOn(part *pg.Node, j *join) error {
	cond, err := l.condition(part, clause{name: "JOIN/ON"})
	if err != nil {
		return err
	}
	if j.kind == pg.JoinType_JOIN_INNER && l.isGate(cond) {
		j.gates = append(j.gates, cond)
		return nil
	}
	j.On = append(j.On, cond)
	switch j.kind {
	case pg.JoinType_JOIN_INNER:
		l.search(part, cond, j, j.Begin)
	case pg.JoinType_JOIN_LEFT: // a left row is kept whether or not the condition holds
		l.search(part, cond, j, j.From)
	}
	return l.joinKey(part, j)
}

// joinKey adds a condition to the keys of the join if it is an equality that rows can be looked up
// by.
func (l *level) joinKey(part *pg.Node, j *join) error {
	a := tree.Equality(part)
	if j.Again || a == nil || !tree.Simple(part) {
		return nil
	}
	left, leftSide, err := l.side(a.Lexpr, j)
	if err != nil {
		return err
	}
	right, rightSide, err := l.side(a.Rexpr, j)
	if err != nil {
		return err
	}
	typ := keyType(left.Type(), right.Type())
	switch {
	case typ == nil:
	case leftSide == 'l' && rightSide == 'r':
		j.Keys = append(j.Keys, exec.JoinKey{Left: left, Right: right, Type: typ})
	case leftSide == 'r' && rightSide == 'l':
		j.Keys = append(j.Keys, exec.JoinKey{Left: right, Right: left, Type: typ})
	}
	return nil
}

// side compiles an expression and returns the side of the join that it depends on: l, r or neither.
func (l *level) side(n *pg.Node, j *join) (expr.Expr, byte, error) {
	e, err := l.compile(n, clause{name: "JOIN/ON"})
	if err != nil {
		return nil, 0, err
	}
	side := byte(0)
	for _, r := range l.refs {
		of := byte('r')
		if r.slot < j.From {
			of = 'l'
		}
		if r.up != 0 || r.slot < j.Begin || r.slot >= j.To || side != 0 && side != of {
			return e, 0, nil
		}
		side = of
	}
	return e, side, nil
}

// keyType returns the type for looking up values of two types, or nil if that is not possible.
func keyType(a, b *value.Type) *value.Type {
	if a == b && a.IsEnum() {
		return a
	}
	ints := []*value.Type{value.Int2, value.Int4, value.Int8, value.OID, value.Regclass, value.Regproc, value.Regtype}
	texts := []*value.Type{value.Text, value.Varchar, value.Name}
	switch {
	case slices.Contains(ints, a) && slices.Contains(ints, b):
		return value.Int8
	case slices.Contains(texts, a) && slices.Contains(texts, b):
		return value.Text
	}
	return nil
}

// using plans one column of USING.
func (l *level) using(name string, j *join, left, right, both *namespace) error {
	a, err := l.usingColumn(name, left, "left")
	if err != nil {
		return err
	}
	b, err := l.usingColumn(name, right, "right")
	if err != nil {
		return err
	}
	on, err := l.compiler().Operate("=", &slotRef{slot: a.slot, typ: a.typ}, &slotRef{slot: b.slot, typ: b.typ}, -1)
	if err != nil {
		return err
	}
	for _, c := range []*column{a, b} {
		if c.used != nil {
			*c.used = true
		}
	}
	j.On = append(j.On, on)
	if typ := keyType(a.typ, b.typ); typ != nil && !j.Again {
		j.Keys = append(j.Keys, exec.JoinKey{Left: &slotRef{slot: a.slot, typ: a.typ}, Right: &slotRef{slot: b.slot, typ: b.typ}, Type: typ})
	}
	switch j.kind {
	case pg.JoinType_JOIN_RIGHT:
		both.cols = append(both.cols, b)
	case pg.JoinType_JOIN_FULL:
		m := &column{name: name, typ: a.typ, slot: l.slot(1)}
		j.Merged = append(j.Merged, exec.MergedColumn{Slot: m.slot, Left: a.slot, Right: b.slot})
		both.cols = append(both.cols, m)
	default:
		both.cols = append(both.cols, a)
	}
	return nil
}

func (l *level) usingColumn(name string, in *namespace, side string) (*column, error) {
	var found *column
	for _, c := range in.cols {
		if c.name == name && found != nil {
			return nil, pgerror.New(pgerror.AmbiguousColumn, `common column name "%s" appears more than once in %s table`, name, side)
		}
		if c.name == name {
			found = c
		}
	}
	if found == nil {
		return nil, pgerror.New(pgerror.UndefinedColumn, `column "%s" specified in USING clause does not exist in %s table`, name, side)
	}
	return found, nil
}

// pushDown moves a condition of WHERE as close to its columns as possible. slots are the slots of
// this level that it references.
func pushDown(in source, cond expr.Expr, slots []int) source {
	j, ok := in.(*join)
	if !ok || len(slots) == 0 {
		if s, ok := in.(*queryScan); ok && s.filters(slots) {
			s.conds = append(s.conds, cond)
			return s
		}
		return &filter{in, cond}
	}
	lowest, highest := slices.Min(slots), slices.Max(slots)
	switch {
	case highest < j.From && lowest >= j.Begin && (j.kind == pg.JoinType_JOIN_INNER || j.kind == pg.JoinType_JOIN_LEFT):
		j.left = pushDown(j.left, cond, slots)
		return j
	case j.kind == pg.JoinType_JOIN_INNER && lowest >= j.From && highest < j.To && !j.Again:
		j.right = pushDown(j.right, cond, slots)
		return j
	case j.kind == pg.JoinType_JOIN_INNER:
		j.On = append(j.On, cond)
		return j
	}
	return &filter{in, cond}
}

// where plans WHERE on top of FROM. Conditions that do not depend on a row are evaluated first.
// Conditions with function calls or subqueries are evaluated last, when the fewest rows remain.
func (l *level) where(in source, n *pg.Node) (_ source, gates, rest []expr.Expr, _ error) {
	for _, part := range tree.Conjuncts(n) {
		cond, err := l.condition(part, clause{name: "WHERE"})
		if err != nil {
			return nil, nil, nil, err
		}
		if l.doomed == nil {
			l.doomed = expr.Doomed(cond)
		}
		if l.isGate(cond) {
			gates = append(gates, cond)
			continue
		}
		l.search(part, cond, in, 0)
		if in == nil || !tree.Simple(part) {
			rest = append(rest, cond)
			continue
		}
		slots := make([]int, 0, len(l.refs))
		for _, r := range l.refs {
			slots = append(slots, r.slot)
		}
		if j, ok := in.(*join); ok {
			if err := l.whereKey(part, j); err != nil {
				return nil, nil, nil, err
			}
		}
		in = pushDown(in, cond, slots)
	}
	return in, gates, rest, nil
}

// whereKey lets the inner joins of a comma list look up rows by equalities in WHERE.
func (l *level) whereKey(part *pg.Node, j *join) error {
	for {
		if j.kind == pg.JoinType_JOIN_INNER {
			if before := len(j.Keys); l.joinKey(part, j) == nil && len(j.Keys) > before {
				return nil
			}
		}
		left, ok := j.left.(*join)
		if !ok {
			return nil
		}
		j = left
	}
}
