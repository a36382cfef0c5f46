package sql

import (
	"iter"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Schema is a name space of functions and relations that statements can use: the catalogs, mbus4,
// public.
type Schema interface {
	Name() string
	// Version changes when functions or relations come, go or change: prepared statements are
	// planned again then. It is asked before each run of a prepared statement and must be cheap.
	Version() uint64
	// Functions returns those with this name; nil when there are none.
	Functions(env *expr.Env, name string) []*expr.Function
	// AllFunctions is for catalogs and listings.
	AllFunctions(env *expr.Env) []*expr.Function
	// Relation returns a table or view by its name, nil when there is none.
	Relation(env *expr.Env, name string) Relation
	AllRelations(env *expr.Env) []Relation
	// Type returns a type by its name, nil when there is none.
	Type(name string) *value.Type
}

// Relation is a table or a view. It is an Inserter, an Updater, a Deleter or a Grantable when it
// can do more than be read, and a Searcher when it need not be read from its beginning to its end.
type Relation interface {
	OID() uint32
	Name() string
	Kind() byte // pg_class.relkind: r, v
	Columns() []value.Field
	// Scan yields its rows. want has the columns that the statement uses; others may be left nil. A
	// slice is valid until the next one.
	Scan(env *expr.Env, want []bool) iter.Seq2[[]value.Datum, error]
}

// Inserter is a relation that takes rows. set tells which columns were given; the others are NULL
// in row. What it returns is the row for RETURNING.
type Inserter interface {
	Insert(env *expr.Env, row []value.Datum, set []bool) ([]value.Datum, error)
}

// Updater is a relation whose rows can be changed; row is as Scan gave it.
type Updater interface {
	Update(env *expr.Env, row, changed []value.Datum) error
}

// Deleter is a relation whose rows can be deleted; row is as Scan gave it.
type Deleter interface {
	Delete(env *expr.Env, row []value.Datum) error
}

// Unique is a relation that has no two rows with the same value in a column: what ON CONFLICT asks
// for.
type Unique interface {
	// Unique is that column, and the name of its index.
	Unique() (column int, constraint string)
	// Same finds the row with the value that row has there; nil: there is none.
	Same(env *expr.Env, row []value.Datum) ([]value.Datum, error)
}

// Hinted is a relation that tells what to do instead of a change it does not take: INSERT, UPDATE
// or DELETE.
type Hinted interface {
	Hint(command string) string
}

// Searcher is a relation that finds rows by the values of some columns without looking at all
// others.
type Searcher interface {
	// Keys are these columns.
	Keys() []int
	// Search is Scan of the rows that have these values, which stand in the order of Keys; nil asks
	// for no value. There may be other rows among them.
	Search(env *expr.Env, want []bool, by []value.Datum) iter.Seq2[[]value.Datum, error]
	// SearchedByJoins reports whether a join searches for each row on its left. If not, it scans
	// the relation once, which is quicker where all rows cost little more than one.
	SearchedByJoins() bool
}

// Grantable is a relation, or with Grant of a Privileges schema a role, on which rights are given.
// privilege is SELECT, INSERT, UPDATE or ALL.
type Grantable interface {
	Grant(env *expr.Env, privilege string, users []string) error
	Revoke(env *expr.Env, privilege string, users []string) error
}

// Roles is where GRANT role TO user goes.
type Roles interface {
	GrantRole(env *expr.Env, role string, users []string) error
	RevokeRole(env *expr.Env, role string, users []string) error
}

// Work is the transaction of a session as functions and relations that change things see it: what
// they did since Begin is made durable by Commit as one, or undone. Its methods are called by the
// session's goroutine. There is always a transaction while a statement runs; a statement outside of
// BEGIN is one by itself.
type Work interface {
	// Begin is called before the first statement of a transaction; readOnly as BEGIN READ ONLY. It
	// is called again when SET TRANSACTION changes that in the middle.
	Begin(readOnly bool)
	// Commit returns when all is durable. With an error nothing of it has happened, or, as the
	// error says, all of it may have.
	Commit() error
	Rollback()
	// Savepoint marks a place; RollbackTo undoes what came after it and keeps the mark. Marks grow.
	Savepoint() int
	RollbackTo(mark int)
	// Close ends the session: what is open is rolled back, temporary things go. It may follow any
	// state.
	Close()
}
