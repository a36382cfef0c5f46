package catalog

import (
	_ "embed"
	"iter"
	"maps"
	"strconv"
	"strings"
	"sync"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

//go:embed pgdata/columns.txt
var columnLines string

// table is a relation of the catalogs.
type table struct {
	schema, name string
	oid          uint32
	kind         byte
	columns      []value.Field
	notNull      []bool
	index        map[string]int
}

// cells maps column names to the values of a row. A missing value is NULL or, in a NOT NULL column,
// the zero value of its type.
type cells map[string]value.Datum

// filler yields the rows of a table.
type filler func(c *Catalog, env *expr.Env, emit func(cells))

// wanted reports whether a row with these keys is asked for.
type wanted func(oid uint32, name string) bool

// keyedTable is a large table in which clients look single objects up, by the OID in its first
// column or by a name. fill yields the rows that are wanted.
type keyedTable struct {
	name string // the column with the name
	fill func(c *Catalog, env *expr.Env, want wanted, emit func(cells))
}

var keyedTables = map[string]keyedTable{
	"pg_catalog.pg_attribute": {"attname", fillAttributes},
	"pg_catalog.pg_class":     {"relname", fillClasses},
	"pg_catalog.pg_proc":      {"proname", fillProcs},
	"pg_catalog.pg_type":      {"typname", fillTypes},
}

var readTables = sync.OnceValue(func() (all []*table) {
	for line := range strings.Lines(columnLines) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		t := &table{kind: f[2][0], index: map[string]int{}}
		t.schema, t.name, _ = strings.Cut(f[0], ".")
		oid, _ := strconv.ParseUint(f[1], 10, 32)
		t.oid = uint32(oid)
		for i, column := range strings.Split(f[3], ",") {
			name, typ, _ := strings.Cut(column, " ")
			typ, notNull := strings.CutSuffix(typ, "!")
			t.columns = append(t.columns, value.Field{Name: name, Type: typeOr(typ, value.Text)})
			t.notNull = append(t.notNull, notNull)
			t.index[name] = i
		}
		all = append(all, t)
	}
	return all
})

// typeOr returns a type by name, or other if it is unknown. The types of statistics columns are not
// needed here.
func typeOr(name string, other *value.Type) *value.Type {
	if t := value.ByName(name); t != nil && t != value.AnyArray {
		return t
	}
	return other
}

func sortedTables() []*table { return readTables() }

var tables = sync.OnceValue(func() map[string]*table {
	all := map[string]*table{}
	for _, t := range readTables() {
		all[t.path()] = t
	}
	return all
})

// path is the schema and the name.
func (t *table) path() string { return t.schema + "." + t.name }

// relation is a table as a session sees it.
type relation struct {
	c *Catalog
	t *table
}

func (r *relation) OID() uint32            { return r.t.oid }
func (r *relation) Name() string           { return r.t.name }
func (r *relation) Kind() byte             { return r.t.kind }
func (r *relation) Columns() []value.Field { return r.t.columns }

// Keys are the OID and the name of a keyed table.
func (r *relation) Keys() []int {
	keyed, ok := keyedTables[r.t.path()]
	if !ok {
		return nil
	}
	return []int{0, r.t.index[keyed.name]}
}

func (r *relation) Search(env *expr.Env, _ []bool, by []value.Datum) iter.Seq2[[]value.Datum, error] {
	return r.rows(env, keyedTables[r.t.path()].only(by[0], by[1]))
}

// Version is the xmin of all rows: the current transaction, because it is not known when a row
// changed. A tool that reads what has changed since its last visit then reads everything.
func (r *relation) Version() value.Datum {
	if r.c.Transaction == nil {
		return int64(frozenTransaction)
	}
	return int64(uint32(r.c.Transaction()))
}

// frozenTransaction is the xmin of rows that are older than every transaction.
const frozenTransaction = 2

// SearchedByJoins is false: a join keeps the rows by their keys.
func (r *relation) SearchedByJoins() bool { return false }

// only is the filler for an OID, a name, or both; nil means any.
func (k keyedTable) only(id, name value.Datum) filler {
	want := func(n uint32, s string) bool { return (id == nil || oid(n) == id) && (name == nil || s == name) }
	return func(c *Catalog, env *expr.Env, emit func(cells)) { k.fill(c, env, want, emit) }
}

func (k keyedTable) all(c *Catalog, env *expr.Env, emit func(cells)) {
	k.fill(c, env, func(uint32, string) bool { return true }, emit)
}

func (r *relation) Scan(env *expr.Env, _ []bool) iter.Seq2[[]value.Datum, error] {
	return r.rows(env, fillers()[r.t.path()])
}

func (r *relation) rows(env *expr.Env, fill filler) iter.Seq2[[]value.Datum, error] {
	return func(yield func([]value.Datum, error) bool) {
		if fill == nil {
			return
		}
		var rows []cells
		fill(r.c, env, func(row cells) { rows = append(rows, row) })
		for _, row := range rows {
			if !yield(r.t.row(row), nil) {
				return
			}
		}
	}
}

func (t *table) row(from cells) []value.Datum {
	row := make([]value.Datum, len(t.columns))
	for i, c := range t.columns {
		d, ok := from[c.Name]
		if !ok && t.notNull[i] {
			d = zero(c.Type)
		}
		row[i] = d
	}
	return row
}

// zero returns the default value for a NOT NULL column.
func zero(t *value.Type) value.Datum {
	switch t {
	case value.Bool:
		return false
	case value.Int2, value.Int4, value.Int8, value.OID, value.XID, value.Regproc:
		return int64(0)
	case value.Float4, value.Float8:
		return 0.0
	case value.TimestampTZType:
		return temporal.TimestampTZ(0)
	case value.Int2Vector, value.OIDVector:
		return value.Vector(t.Elem, nil)
	}
	if t.IsArray() {
		return value.NewArray(t.Elem, nil)
	}
	return ""
}

// fillers holds the fillers of all tables that are not empty.
var fillers = sync.OnceValue(func() map[string]filler {
	all := map[string]filler{}
	for _, group := range []map[string]filler{typeTables, relationTables, functionTables, roleTables, serverTables, informationTables} {
		maps.Copy(all, group)
	}
	for path, keyed := range keyedTables {
		all[path] = keyed.all
	}
	return all
})

func oid(n uint32) value.Datum { return int64(n) }
