package schema

import (
	"iter"
	"slices"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Relation is a table or a view. It also implements Inserter, Updater, Deleter or Grantable if it
// supports these operations, Searcher if it can find rows without a full scan, and Taker if reading
// it has side effects.
type Relation interface {
	OID() uint32
	Name() string
	Kind() byte // pg_class.relkind: r, v
	Columns() []value.Field
	// Scan yields the rows. want marks the columns that the statement uses; others may be left nil.
	// A row is valid until the next one.
	Scan(env *expr.Env, want []bool) iter.Seq2[[]value.Datum, error]
}

// Inserter is a relation that supports INSERT. set marks the columns that were given; the others
// are NULL in row. The result is the row for RETURNING.
type Inserter interface {
	Insert(env *expr.Env, row []value.Datum, set []bool) ([]value.Datum, error)
}

// Updater is a relation that supports UPDATE. row is a row from Scan.
type Updater interface {
	Update(env *expr.Env, row, changed []value.Datum) error
}

// Deleter is a relation that supports DELETE. row is a row from Scan.
type Deleter interface {
	Delete(env *expr.Env, row []value.Datum) error
}

// Unique is a relation with a unique column, as ON CONFLICT requires.
type Unique interface {
	// Unique returns the unique column and the name of its index.
	Unique() (column int, constraint string)
	// Same returns the existing row with the same value in that column as row, or nil if there is
	// none.
	Same(env *expr.Env, row []value.Datum) ([]value.Datum, error)
}

// Hinted is a relation that suggests an alternative to an unsupported command: INSERT, UPDATE or
// DELETE.
type Hinted interface {
	Hint(command string) string
}

// Searcher is a relation that can find rows by the values of some columns without a full scan.
type Searcher interface {
	// Keys returns these columns.
	Keys() []int
	// Search is Scan restricted to rows with the given values, in the order of Keys; nil means any
	// value. It may yield other rows, too.
	Search(env *expr.Env, want []bool, by []value.Datum) iter.Seq2[[]value.Datum, error]
	// SearchedByJoins reports whether a join searches for each row on its left. If not, it scans
	// the relation once, which is quicker where all rows cost little more than one.
	SearchedByJoins() bool
}

// Versioned is a relation whose rows have xmin, of the type xid.
type Versioned interface {
	// Version returns the xmin of all rows.
	Version() value.Datum
}

// Grantable is a relation on which privileges can be granted. privilege is SELECT, INSERT, UPDATE
// or ALL.
type Grantable interface {
	Grant(env *expr.Env, privilege string, users []string) error
	Revoke(env *expr.Env, privilege string, users []string) error
}

// Taker is a relation whose reading has side effects, such as a view of a queue.
type Taker interface {
	Relation
	Takes()
}

// Guarded is a relation that can check in advance whether the user has a privilege, such as INSERT.
type Guarded interface {
	May(privilege string) error
}

// ResultColumns returns the columns of a relation as columns of a result.
func ResultColumns(r Relation) []value.Field {
	fields := slices.Clone(r.Columns())
	for i := range fields {
		fields[i].Origin = value.Origin{Relation: r.OID(), Column: int16(i + 1)}
	}
	return fields
}

// Column returns the index of the column with a name; -1: there is none.
func Column(fields []value.Field, name string) int {
	return slices.IndexFunc(fields, func(f value.Field) bool { return f.Name == name })
}
