// Package sql is the statements of SQL: parsed, planned, run in a session with its transaction, prepared statements and cursors. What the
// statements work on, functions and relations, comes from Schemas; what a transaction is comes from a Work. It knows no sockets and no broker.
package sql

import (
	"context"

	"fiveways/internal/protocol/pgwire/pgerror"
	"fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways/internal/protocol/pgwire/sql/value"
)

// Options describe a session.
type Options struct {
	User, Database  string
	ApplicationName string
	Superuser       bool
	Schemas         []Schema
	Roles           Roles // nil: GRANT of roles is refused
	Work            Work
	Session         any                      // for expr.Env.Session
	Notice          func(*pgerror.Error)     // where notices go; called by the session's goroutine
	Parameter       func(name, value string) // tells of a changed setting that clients are told about (ParameterStatus)
	BackendPID      uint32
}

// Session runs the statements of one client. Its methods belong to one goroutine, but for Cancel.
type Session struct{ opts Options }

// NewSession returns a session in autocommit mode.
func NewSession(o Options) *Session { return &Session{opts: o} }

// Prepared is a statement that was parsed and planned once.
type Prepared struct {
	Text    string
	Params  []*value.Type
	Columns []value.Field // nil: it returns no rows
}

// Portal is a statement with its parameters, being run.
type Portal struct {
	Columns []value.Field
	Formats []int16 // of the results: none, one for all, or one each; the protocol keeps them here
}

// Split parses the text of a simple query into its statements, to be opened and fetched one after the other, then Sync; empty for an empty
// query. A syntax error anywhere fails all of it. They are planned when they are opened: their columns are those of the portal.
func (s *Session) Split(text string) ([]*Prepared, error) { return nil, nil }

// Prepare plans one statement of the extended protocol. oids are the types of the first parameters as the client knows them, 0 unknown.
func (s *Session) Prepare(text string, oids []uint32) (*Prepared, error) { return nil, nil }

// Open makes a portal. Values are in the types of p.Params.
func (s *Session) Open(p *Prepared, args []value.Datum) (*Portal, error) { return nil, nil }

// Fetch runs the portal until max rows were given to row (0 = all); done tells that it is at its end and tag is the command tag then. ctx
// is ended by a cancel request or a timeout of the statement.
func (s *Session) Fetch(ctx context.Context, p *Portal, max int, row func([]value.Datum) error) (done bool, tag string, err error) {
	return true, "", nil
}

// Status is the transaction status of ReadyForQuery: I, T or E.
func (s *Session) Status() byte { return 'I' }

// Fail notes an error that the protocol found itself (a malformed bind, say): the transaction is aborted as by a failed statement.
func (s *Session) Fail() {}

// Sync ends the implicit transaction of a simple query or of the messages up to a Sync: commits it, or rolls it back after an error.
func (s *Session) Sync() error { return nil }

// Settings are the session's settings now.
func (s *Session) Settings() value.Settings { return value.Defaults() }

// Bind keeps a portal by a name that it shares with the cursors of DECLARE; the one without a name is replaced at will. The end of its
// transaction drops it.
func (s *Session) Bind(name string, p *Portal) error { return nil }

// Portal finds a portal or a cursor; the error is that of PostgreSQL when there is none.
func (s *Session) Portal(name string) (*Portal, error) { return nil, nil }

// Release closes a portal; one that is not there is no error.
func (s *Session) Release(name string) {}

// Run runs the statements of text inside of the transaction that env belongs to, for functions that run SQL. What fails leaves the
// transaction as it is: the caller undoes what was done (Work.Savepoint before, RollbackTo after). Commands of transactions are refused.
func (s *Session) Run(env *expr.Env, text string, types []*value.Type, args []value.Datum, row func([]value.Datum) error) error {
	return nil
}

// Close ends the session and rolls back what is open.
func (s *Session) Close() {}
