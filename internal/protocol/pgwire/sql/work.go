package sql

import (
	"context"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
)

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
	// if the error says so, everything may have. The end of ctx ends waits for the end of an alarm
	// and for rate limits.
	Commit(ctx context.Context) error
	Rollback()
	// Savepoint returns a mark. RollbackTo undoes everything after a mark and keeps the mark. Marks
	// increase.
	Savepoint() int
	RollbackTo(mark int)
	// Close ends the session: it rolls back the open transaction and removes temporary objects. It
	// may be called in any state.
	Close()
}
