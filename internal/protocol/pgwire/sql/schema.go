package sql

import (
	"iter"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Schema is a namespace of functions and relations for statements: the catalogs, mbus4, public.
type Schema interface {
	Name() string
	// Version returns a number that changes when functions or relations are added, removed or
	// changed, so that prepared statements are planned again. It is called before each run of a
	// prepared statement and must be cheap.
	Version() uint64
	// Functions returns the functions with this name, or nil if there are none.
	Functions(env *expr.Env, name string) []*expr.Function
	// AllFunctions returns all functions, for catalogs and listings.
	AllFunctions(env *expr.Env) []*expr.Function
	// Relation returns a table or view by name, or nil if there is none.
	Relation(env *expr.Env, name string) Relation
	AllRelations(env *expr.Env) []Relation
	// Type returns a type by name, or nil if there is none.
	Type(name string) *value.Type
}

// Relation is a table or a view. It also implements Inserter, Updater, Deleter or Grantable if it
// supports these operations, and Searcher if it can find rows without a full scan.
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

// Grantable is a relation on which privileges can be granted. privilege is SELECT, INSERT, UPDATE
// or ALL.
type Grantable interface {
	Grant(env *expr.Env, privilege string, users []string) error
	Revoke(env *expr.Env, privilege string, users []string) error
}

// Roles handles GRANT role TO user.
type Roles interface {
	GrantRole(env *expr.Env, role string, users []string) error
	RevokeRole(env *expr.Env, role string, users []string) error
}

// Work is the transaction of a session from the point of view of functions and relations that
// change things: Commit makes everything since Begin durable, atomically, and Rollback undoes it.
// Its methods are called by the session's goroutine. There is always a transaction while a
// statement runs; outside of a transaction block, each statement is its own transaction.
type Work interface {
	// Begin is called before the first statement of a transaction, with readOnly for BEGIN READ
	// ONLY. It is called again if SET TRANSACTION changes that later.
	Begin(readOnly bool)
	// Commit returns when everything is durable. If it returns an error, nothing has happened or,
	// if the error says so, everything may have.
	Commit() error
	Rollback()
	// Savepoint returns a mark. RollbackTo undoes everything after a mark and keeps the mark. Marks
	// increase.
	Savepoint() int
	RollbackTo(mark int)
	// Close ends the session: it rolls back the open transaction and removes temporary objects. It
	// may be called in any state.
	Close()
}
