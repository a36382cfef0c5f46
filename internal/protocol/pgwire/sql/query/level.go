package query

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/query/exec"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// level is a SELECT or a similar construct during planning: the names visible to its expressions,
// and its row.
//
// Everything that the expressions of a level refer to is in one row, which is env.Rows[0] during
// evaluation: the columns of every relation of FROM, then grouping keys, results of aggregates and
// of set-returning functions, and other values that are computed once. Each has its own slot.
// Joins, grouping and sorting therefore only fill in slots.
type level struct {
	*frame
	p      *Planner
	parent *level
	depth  int // number of enclosing levels

	visible []*namespace // of FROM, as visible to the current expression
	brought []*item      // the items of FROM so far
	scans   []*relationScan
	ctes    []*cte

	clause  clause // being compiled
	aggs    []*exec.Aggregate
	sets    []*exec.RowSet
	windows []*exec.Window
	failed  error // of a window function: the hook that finds them returns none
	doomed  error // of constants in WHERE
	// refs are the slots of FROM that the expression at hand mentions outside of aggregates.
	refs     []*slotRef
	lateral  []int // slots of FROM that items of FROM reference
	keepRefs bool  // references in an aggregate's arguments count as outside of it, because it is a window aggregate
	// mentioned are the references of all clauses that are evaluated after grouping.
	mentioned []*slotRef
	starts    map[*pg.FuncCall]int // the length of refs before the arguments of the call
	keys      map[string]*slotRef  // the grouping expressions known so far, by their text
	columns   map[int]bool         // slots of FROM that are grouping keys
}

// frame is what is needed to run a level: the width of its row and the number of its memos, which
// persist from one row to the next. The first slot of a row holds the memos.
type frame struct{ width, memos int }

// clause is a part of a statement: its name in errors, and what it may contain.
type clause struct {
	name             string
	aggregates, sets bool
	alone            string // what may not contain a subquery; "" if subqueries are allowed
}

// namespace is the set of names that one item of FROM defines.
type namespace struct {
	items []*item
	cols  []*column // visible without a table name, in the order of *
}

// item is a relation, a function or a subquery in FROM.
type item struct {
	alias, schema string
	cols          []*column
	system        []*column   // of a relation: those that exist only if named, such as tableoid
	outer         bool        // on the side of an outer join whose rows may be missing
	typ           *value.Type // of a whole row; nil: created on demand
	single        bool        // the only column, of a function, is also the whole row
}

type column struct {
	name string
	typ  *value.Type
	mod  int32 // as of value.Field
	from value.Origin
	slot int
	used *bool // the relation must deliver it
}

func (p *Planner) level(parent *level) *level {
	l := &level{p: p, parent: parent, frame: &frame{width: 1}}
	if parent != nil {
		l.depth = parent.depth + 1
	}
	return l
}

// slot allocates n slots and returns the first.
func (l *level) slot(n int) int {
	l.width += n
	return l.width - n
}

// slotRef is the value of a slot in the row of this or of an outer level.
type slotRef struct {
	up, slot int
	typ      *value.Type
	mod      int32 // as of value.Field
	from     value.Origin
	name     string
	location int32
}

func (r *slotRef) Type() *value.Type { return r.typ }

// Typmod returns the typmod of the column, -1 for none.
func (r *slotRef) Typmod() int32 { return r.mod - 1 }

// Volatility prevents constant folding.
func (r *slotRef) Volatility() expr.Volatility { return expr.Stable }

func (r *slotRef) Eval(env *expr.Env) (value.Datum, error) { return env.Rows[r.up][r.slot], nil }

// wholeRow is the row of an item of FROM as one value. If an outer join may not have found the row,
// it is NULL if all its columns are NULL.
type wholeRow struct {
	up    int
	typ   *value.Type
	slots []int
	outer bool
}

func (r *wholeRow) Type() *value.Type { return r.typ }

// Volatility prevents constant folding.
func (r *wholeRow) Volatility() expr.Volatility { return expr.Stable }

func (r *wholeRow) Eval(env *expr.Env) (value.Datum, error) {
	row, out, some := env.Rows[r.up], make(value.Record, len(r.slots)), !r.outer
	for i, slot := range r.slots {
		out[i] = row[slot]
		some = some || out[i] != nil
	}
	if !some {
		return nil, nil
	}
	return out, nil
}

// use records that an expression of l references the level up levels out.
func (l *level) use(up int) {
	if l.depth-up < l.p.reach {
		l.p.reach = l.depth - up
	}
}

func (l *level) ref(up int, c *column, location int32, of *level) *slotRef {
	l.use(up)
	if c.used != nil {
		*c.used = true
	}
	r := &slotRef{up: up, slot: c.slot, typ: c.typ, mod: c.mod, from: c.from, name: c.name, location: location}
	of.refs = append(of.refs, r)
	return r
}

// column resolves a column from its parts; it is the Column hook of the compiler.
func (l *level) column(parts []string, location int32) (expr.Expr, error) {
	for at, up := l, 0; at != nil; at, up = at.parent, up+1 {
		found, err := at.find(l, up, parts, location)
		if found != nil || err != nil {
			return found, err
		}
	}
	return nil, l.noColumn(parts, location)
}

// find looks up a column in one level for an expression up levels below it.
func (l *level) find(asking *level, up int, parts []string, location int32) (expr.Expr, error) {
	name := parts[len(parts)-1]
	if len(parts) == 1 {
		var found *column
		for _, ns := range l.visible {
			for _, c := range ns.cols {
				if c.name == name && found != nil {
					return nil, l.error(pgerror.AmbiguousColumn, location, `column reference "%s" is ambiguous`, name)
				}
				if c.name == name {
					found = c
				}
			}
		}
		if found != nil {
			return asking.ref(up, found, location, l), nil
		}
		if it := l.item("", name); it != nil {
			return l.whole(asking, up, it, location), nil
		}
		return l.systemColumn(asking, up, name, location)
	}
	schema := ""
	if len(parts) > 2 {
		schema = parts[len(parts)-3]
	}
	it := l.item(schema, parts[len(parts)-2])
	if it == nil {
		return nil, nil
	}
	for _, c := range it.cols {
		if c.name == name {
			return asking.ref(up, c, location, l), nil
		}
	}
	if c := it.systemColumn(name); c != nil {
		return asking.ref(up, c, location, l), nil
	}
	return nil, l.error(pgerror.UndefinedColumn, location, "column %s does not exist", strings.Join(parts[len(parts)-2:], "."))
}

// systemColumn looks up a column that exists only if named.
func (l *level) systemColumn(asking *level, up int, name string, location int32) (expr.Expr, error) {
	var found *column
	for _, ns := range l.visible {
		for _, it := range ns.items {
			c := it.systemColumn(name)
			if c == nil {
				continue
			}
			if found != nil {
				return nil, l.error(pgerror.AmbiguousColumn, location, `column reference "%s" is ambiguous`, name)
			}
			found = c
		}
	}
	if found == nil {
		return nil, nil
	}
	return asking.ref(up, found, location, l), nil
}

func (it *item) systemColumn(name string) *column {
	for _, c := range it.system {
		if c.name == name {
			return c
		}
	}
	return nil
}

func (l *level) item(schema, alias string) *item {
	for _, ns := range l.visible {
		for _, it := range ns.items {
			if it.alias == alias && (schema == "" || schema == it.schema) {
				return it
			}
		}
	}
	return nil
}

func (l *level) whole(asking *level, up int, it *item, location int32) expr.Expr {
	if it.single {
		return asking.ref(up, it.cols[0], location, l)
	}
	r := &wholeRow{up: up, typ: it.typ, outer: it.outer}
	for _, c := range it.cols {
		r.slots = append(r.slots, asking.ref(up, c, location, l).slot)
	}
	if r.typ == nil {
		r.typ = value.RowType(fieldsOf(it.cols))
	}
	return r
}

func fieldsOf(cols []*column) []value.Field {
	fields := make([]value.Field, len(cols))
	for i, c := range cols {
		fields[i] = value.Field{Name: c.name, Type: c.typ}
	}
	return fields
}

func (l *level) noColumn(parts []string, location int32) error {
	if len(parts) > 1 {
		for at := l; at != nil; at = at.parent {
			for _, it := range at.brought {
				if alias := parts[len(parts)-2]; it.alias == alias {
					return l.error(pgerror.UndefinedTable, location, `invalid reference to FROM-clause entry for table "%s"`, alias).
						WithDetail(`There is an entry for table "%s", but it cannot be referenced from this part of the query.`, alias)
				}
			}
		}
		return l.error(pgerror.UndefinedTable, location, `missing FROM-clause entry for table "%s"`, parts[len(parts)-2])
	}
	return l.error(pgerror.UndefinedColumn, location, `column "%s" does not exist`, parts[0])
}

func (l *level) error(code string, location int32, format string, args ...any) *pgerror.Error {
	return pgerror.New(code, format, args...).At(l.p.Text, location)
}

// memo allocates a memo for a value that is computed once in a run of the level.
func (l *level) memo() int {
	l.memos++
	return l.memos - 1
}

// memo is a value, or rows, computed once.
type memo struct {
	done    bool
	d       value.Datum
	rows    [][]value.Datum
	working bool        // rows are those of the last round of a recursive query
	index   *exec.Index // of rows; nil: not made yet

	next func() ([]value.Datum, error, bool) // produces further rows, with env; nil: there are none
	env  *expr.Env
	heap expr.Heap // of these rows
}

// memoOf returns a memo of the level up levels out.
func memoOf(env *expr.Env, up, i int) *memo { return &env.Rows[up][0].([]memo)[i] }

// push allocates the row of a level that begins to run inside of those in env. around is the
// current env.Rows; inside is env.Rows for the expressions of the level.
func (f *frame) push(env *expr.Env) (row []value.Datum, around, inside [][]value.Datum) {
	around = env.Rows
	row = make([]value.Datum, f.width)
	if f.memos > 0 {
		row[0] = make([]memo, f.memos)
	}
	inside = make([][]value.Datum, 1, 1+len(around))
	inside[0] = row
	return row, around, append(inside, around...)
}
