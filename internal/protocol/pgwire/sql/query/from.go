package query

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/query/exec"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// source produces rows. For each row, it fills in slots of env.Rows[0] and calls emit.
type source interface {
	run(env *expr.Env, emit func() error) error
	// none reports whether constants and parameters alone make it empty.
	none(env *expr.Env) bool
}

// fromList plans FROM a, b, c. It returns nil if there is no FROM. It sets l.visible to the names
// that the items define.
func (l *level) fromList(list []*pg.Node) (source, error) {
	var all source
	for _, n := range list {
		from, mark := l.width, len(l.lateral)
		s, ns, err := l.from(n)
		if err != nil {
			return nil, err
		}
		if err := l.checkNames(ns); err != nil {
			return nil, err
		}
		l.visible = append(l.visible, ns)
		if all == nil {
			all = s
			continue
		}
		j := newJoin(pg.JoinType_JOIN_INNER, 0)
		j.left, j.right, j.From, j.To, j.Again = all, s, from, l.width, l.dependsOnLeft(mark, from)
		all = j
	}
	return all, nil
}

// dependsOnLeft reports whether the rows of the last planned item of FROM, whose slots begin at
// from, depend on the rows of preceding items. mark is the length of l.lateral before the item was
// planned.
func (l *level) dependsOnLeft(mark, from int) bool {
	return slices.ContainsFunc(l.lateral[mark:], func(slot int) bool { return slot < from })
}

// noteLateral records the columns of the level that the last planned item of FROM references.
func (l *level) noteLateral() {
	for _, r := range l.refs {
		l.lateral = append(l.lateral, r.slot)
	}
	l.refs = l.refs[:0]
}

// checkNames returns an error if two items have the same name.
func (l *level) checkNames(ns *namespace) error {
	for _, it := range ns.items {
		if it.alias != "" && l.item("", it.alias) != nil {
			if old := l.item("", it.alias); old.schema == it.schema || old.schema == "" || it.schema == "" {
				return pgerror.New("42712", `table name "%s" specified more than once`, it.alias)
			}
		}
	}
	return nil
}

// from plans one item of FROM.
func (l *level) from(n *pg.Node) (source, *namespace, error) {
	switch n := n.GetNode().(type) {
	case *pg.Node_RangeVar:
		return l.fromRelation(n.RangeVar)
	case *pg.Node_RangeFunction:
		return l.fromFunction(n.RangeFunction)
	case *pg.Node_RangeSubselect:
		return l.fromSelect(n.RangeSubselect)
	case *pg.Node_JoinExpr:
		return l.fromJoin(n.JoinExpr)
	}
	return nil, nil, pgerror.Unsupported(feature(n) + " in FROM")
}

// feature names a kind of item in FROM.
func feature(n *pg.Node) string {
	if n.GetRangeTableSample() != nil {
		return "TABLESAMPLE"
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", n.GetNode()), "*pg_query.Node_")
}

// bring returns the namespace of an item with columns in the slots from base on.
func (l *level) bring(alias *pg.Alias, name, schema string, fields []value.Field, base int, used []bool) (*namespace, error) {
	it := &item{alias: name, schema: schema}
	var renamed []*pg.Node
	if alias != nil {
		it.alias, it.schema, renamed = alias.Aliasname, "", alias.Colnames
	}
	if len(renamed) > len(fields) {
		return nil, pgerror.New("42P10", `table "%s" has %d columns available but %d columns specified`, it.alias, len(fields), len(renamed))
	}
	for i, f := range fields {
		c := &column{name: f.Name, typ: f.Type, mod: f.Mod, from: f.Origin, slot: base + i}
		if i < len(renamed) {
			c.name = renamed[i].GetString_().GetSval()
		}
		if used != nil {
			c.used = &used[i]
		}
		it.cols = append(it.cols, c)
	}
	l.brought = append(l.brought, it)
	return &namespace{items: []*item{it}, cols: it.cols}, nil
}

func (l *level) fromRelation(n *pg.RangeVar) (source, *namespace, error) {
	if n.Schemaname == "" {
		if c, up := l.cte(n.Relname); c != nil {
			return l.fromCTE(n, c, up)
		}
	}
	r, err := l.p.Relation(n)
	if err != nil {
		return nil, nil, err
	}
	fields := schema.ResultColumns(r)
	s := &relationScan{r: r, base: l.slot(len(fields)), used: make([]bool, len(fields))}
	ns, err := l.bring(n.Alias, n.Relname, n.Schemaname, fields, s.base, s.used)
	if err != nil {
		return nil, nil, err
	}
	s.self = l.slot(1)
	if r, ok := r.(schema.Searcher); ok {
		s.by = make([]expr.Expr, len(r.Keys()))
	}
	l.scans = append(l.scans, s)
	ns.items[0].system = []*column{{name: "tableoid", typ: value.OID, slot: s.self}}
	if _, ok := r.(schema.Versioned); ok && r.Kind() == 'r' {
		s.version = l.slot(1)
		ns.items[0].system = append(ns.items[0].system, &column{name: "xmin", typ: value.XID, slot: s.version, used: &s.versioned})
	}
	return s, ns, nil
}

func (l *level) fromSelect(n *pg.RangeSubselect) (source, *namespace, error) {
	hidden := l.visible
	l.refs = l.refs[:0]
	if !n.Lateral {
		l.visible = nil
	}
	q, free, err := l.freeQuery(n.Subquery.GetSelectStmt())
	l.visible = hidden
	if err != nil {
		return nil, nil, err
	}
	l.noteLateral()
	s := &queryScan{q: q, base: l.slot(len(q.columns())), free: free, deferred: l.deferred(q, n.Subquery.GetSelectStmt())}
	ns, err := l.bring(n.Alias, "", "", q.columns(), s.base, nil)
	return s, ns, err
}

// relationScan reads the rows of a relation.
type relationScan struct {
	r    schema.Relation
	base int
	self int // slot of tableoid

	version   int // slot of xmin, if the relation is Versioned
	versioned bool

	used []bool
	by   []expr.Expr // for a Searcher, by its keys: the value that a key must equal, nil: any
}

// rows returns the rows that the relation finds.
func (s *relationScan) rows(env *expr.Env) (iter.Seq2[[]value.Datum, error], error) {
	if !slices.ContainsFunc(s.by, func(e expr.Expr) bool { return e != nil }) {
		return s.r.Scan(env, s.used), nil
	}
	by, none, err := s.keys(env)
	if err != nil || none {
		return func(func([]value.Datum, error) bool) {}, err
	}
	return s.r.(schema.Searcher).Search(env, s.used, by), nil
}

func (s *relationScan) run(env *expr.Env, emit func() error) error {
	env.Rows[0][s.self] = int64(s.r.OID())
	if s.versioned {
		env.Rows[0][s.version] = s.r.(schema.Versioned).Version()
	}
	rows, err := s.rows(env)
	if err != nil {
		return err
	}
	return exec.EachRow(env, rows, emit, func(row []value.Datum) { copy(env.Rows[0][s.base:s.base+len(s.used)], row) })
}

// queryScan reads the rows of a subquery.
type queryScan struct {
	q        query
	base     int
	free     bool        // it looks at no row outside of itself
	deferred []bool      // columns that are computed only for rows that are wanted; nil: none
	conds    []expr.Expr // asked before the deferred columns are computed
}

func (s *queryScan) run(env *expr.Env, emit func() error) error { return s.runIf(env, nil, emit) }
