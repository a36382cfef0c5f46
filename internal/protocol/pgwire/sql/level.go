package sql

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// level is one SELECT, or what is like it, while it is planned: the names that its expressions see,
// and its row.
//
// All that the expressions of a level refer to lies in one row, env.Rows[0] when they are
// evaluated: the columns of every relation of FROM, then grouping keys, results of aggregates, of
// set-returning functions and of whatever else is worked out once. Each has a slot of its own. So
// joins, grouping and sorting only fill in slots and go on.
type level struct {
	*frame
	p      *planner
	parent *level
	depth  int // how many levels are around it

	visible []*namespace // of FROM, as far as the expression at hand sees it
	brought []*item      // all of FROM so far
	scans   []*relationScan
	ctes    []*cte

	clause  clause // that is being compiled
	aggs    []*aggregate
	sets    []*rowSet
	windows []*window
	failed  error // of a window function: the hook that finds them returns none
	doomed  error // of constants in WHERE
	// refs are the slots of FROM that the expression at hand mentions outside of aggregates.
	refs     []*slotRef
	lateral  []int // slots of FROM that items of FROM mention
	keepRefs bool  // those of the aggregate's arguments count as mentioned outside of it: it is that of a window
	// mentioned are those of all clauses that come after grouping.
	mentioned []*slotRef
	starts    map[*pg.FuncCall]int // how many refs there were when the call's arguments began
	keys      map[string]*slotRef  // what is known by now of grouping expressions, by the text of their trees
	columns   map[int]bool         // slots of FROM that are grouping keys
}

// frame is what is needed to run a level: the size of its row, and of what is kept from one row to
// the next. The first slot of a row is that of its memos.
type frame struct{ width, memos int }

// clause is a part of a statement: its name in errors, and what it may have.
type clause struct {
	name             string
	aggregates, sets bool
	alone            string // what a sub-select cannot stand in; "" where it can
}

// namespace is what one item of FROM brings into sight.
type namespace struct {
	items []*item
	cols  []*column // seen without the name of their table, in the order of *
}

// item is a relation, a function or a sub-select in FROM.
type item struct {
	alias, schema string
	cols          []*column
	system        *column     // of a relation: tableoid, which exists only if named
	typ           *value.Type // of a whole row; nil: made when asked for
}

type column struct {
	name string
	typ  *value.Type
	mod  int32 // as of value.Field
	slot int
	used *bool // the relation must deliver it
}

func (p *planner) level(parent *level) *level {
	l := &level{p: p, parent: parent, frame: &frame{width: 1}}
	if parent != nil {
		l.depth = parent.depth + 1
	}
	return l
}

// slot gives out n slots and returns the first.
func (l *level) slot(n int) int {
	l.width += n
	return l.width - n
}

// slotRef is the value of one slot of the row of this or of an outer level.
type slotRef struct {
	up, slot int
	typ      *value.Type
	mod      int32 // as of value.Field
	name     string
	location int32
}

func (r *slotRef) Type() *value.Type { return r.typ }

// Typmod is that of its column, -1 for none.
func (r *slotRef) Typmod() int32 { return r.mod - 1 }

// Volatility keeps it from being taken for a constant.
func (r *slotRef) Volatility() expr.Volatility { return expr.Stable }

func (r *slotRef) Eval(env *expr.Env) (value.Datum, error) { return env.Rows[r.up][r.slot], nil }

// wholeRow is a row of an item of FROM as one value. It is NULL where an outer join found none,
// which cannot be told from a row of NULLs.
type wholeRow struct {
	up    int
	typ   *value.Type
	slots []int
}

func (r *wholeRow) Type() *value.Type { return r.typ }

// Volatility keeps it from being taken for a constant.
func (r *wholeRow) Volatility() expr.Volatility { return expr.Stable }

func (r *wholeRow) Eval(env *expr.Env) (value.Datum, error) {
	row, out, some := env.Rows[r.up], make(value.Record, len(r.slots)), false
	for i, slot := range r.slots {
		out[i] = row[slot]
		some = some || out[i] != nil
	}
	if !some {
		return nil, nil
	}
	return out, nil
}

// use notes that an expression of l refers to a level that is up levels around it.
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
	r := &slotRef{up: up, slot: c.slot, typ: c.typ, mod: c.mod, name: c.name, location: location}
	of.refs = append(of.refs, r)
	return r
}

// column finds a column by its parts; it is the Column hook of expressions.
func (l *level) column(parts []string, location int32) (expr.Expr, error) {
	for at, up := l, 0; at != nil; at, up = at.parent, up+1 {
		found, err := at.find(l, up, parts, location)
		if found != nil || err != nil {
			return found, err
		}
	}
	return nil, l.noColumn(parts, location)
}

// find looks for a column in one level for an expression that is up levels inside of it.
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
	if it.system != nil && it.system.name == name {
		return asking.ref(up, it.system, location, l), nil
	}
	return nil, l.error(pgerror.UndefinedColumn, location, "column %s does not exist", strings.Join(parts[len(parts)-2:], "."))
}

// systemColumn finds a column that exists only if named.
func (l *level) systemColumn(asking *level, up int, name string, location int32) (expr.Expr, error) {
	var found *column
	for _, ns := range l.visible {
		for _, it := range ns.items {
			if it.system == nil || it.system.name != name {
				continue
			}
			if found != nil {
				return nil, l.error(pgerror.AmbiguousColumn, location, `column reference "%s" is ambiguous`, name)
			}
			found = it.system
		}
	}
	if found == nil {
		return nil, nil
	}
	return asking.ref(up, found, location, l), nil
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
	r := &wholeRow{up: up, typ: it.typ}
	for _, c := range it.cols {
		r.slots = append(r.slots, asking.ref(up, c, location, l).slot)
	}
	if r.typ == nil {
		r.typ = rowType(fieldsOf(it.cols))
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

// rowType is a record whose fields are known.
func rowType(fields []value.Field) *value.Type {
	t := *value.RecordT
	t.Fields = fields
	return &t
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
	return pgerror.New(code, format, args...).At(l.p.text, location)
}

// memo gives out a place for what is worked out once for a run of the level.
func (l *level) memo() int {
	l.memos++
	return l.memos - 1
}

// memo is a value, or rows, worked out once.
type memo struct {
	done    bool
	d       value.Datum
	rows    [][]value.Datum
	working bool // rows are those of the last round of a recursive query

	next func() ([]value.Datum, error, bool) // gives further rows, with env; nil: there is no such thing
	env  *expr.Env
	heap expr.Heap // of these rows
}

// memoOf is a memo of the level that is up levels around.
func memoOf(env *expr.Env, up, i int) *memo { return &env.Rows[up][0].([]memo)[i] }

// push makes room for the row of a level that begins to run inside of those in env. around is
// env.Rows as it is, inside as it is for the expressions of the level.
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
