// Package sql executes SQL: it parses statements, plans them, and runs them in a session with its
// transaction, prepared statements and cursors. Functions and relations come from Schemas, and the
// meaning of a transaction from a Work. It knows no sockets and no broker.
package sql

import (
	"context"
	"errors"
	"time"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
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
	Names           value.Names              // what regclass and its like stand for; may be nil
	Notice          func(*pgerror.Error)     // where notices go; called by the session's goroutine
	Parameter       func(name, value string) // tells of a changed setting that clients are told about (ParameterStatus)
	Copier          Copier                   // the client of COPY; nil: COPY is refused
	BackendPID      uint32
	// Signal interrupts another session's statement, or ends the session; false: there is none with
	// this number. nil: there is only this one.
	Signal func(pid uint32, terminate bool) (bool, error)
}

// Session runs the statements of one client. Its methods belong to one goroutine.
type Session struct {
	opts        Options
	vars        variables
	tx          transaction
	statements  map[string]*Prepared
	portals     map[string]*Portal
	builtin     *sessionSchema
	told        map[string]string // what the client knows of the reported settings
	pathNow     []string          // the search path at pathAt, an epoch of the settings
	pathAt      uint64
	pathImplied bool   // pg_catalog was not named in it
	inner       int    // how many functions that run statements (Run) are at work
	reportedAt  uint64 // the epoch of the settings when it was told last
}

// NewSession returns a session in autocommit mode.
func NewSession(o Options) *Session {
	s := &Session{opts: o, statements: map[string]*Prepared{}, portals: map[string]*Portal{}}
	s.vars = newVariables()
	s.vars.defaults["application_name"] = o.ApplicationName
	s.vars.defaults["session_authorization"] = o.User
	if o.Superuser {
		s.vars.defaults["is_superuser"] = "on"
	}
	s.vars.objects = o.Names
	s.vars.refresh()
	s.builtin = newSessionSchema(s)
	s.told = map[string]string{}
	for _, r := range s.Reported() {
		s.told[r.Name] = r.Value
	}
	return s
}

// env is what a statement that begins now depends on.
func (s *Session) env(ctx context.Context) *expr.Env {
	now := micros(time.Now())
	env := &expr.Env{
		Ctx: ctx, Settings: s.vars.settings, Now: s.tx.now, Stmt: now, Clock: clock,
		User: s.opts.User, Database: s.opts.Database, Path: s.path(), Notice: s.notice, Session: s.opts.Session,
	}
	if s.tx.state == txNone {
		env.Now = now
	}
	env.Settings.Now, env.Implied = env.Now, s.pathImplied
	return env
}

func clock() value.TimestampTZ { return micros(time.Now()) }

// notice passes a notice on unless the client wants no such ones.
func (s *Session) notice(e *pgerror.Error) {
	if s.opts.Notice == nil || severityRank(e.Severity) < severityRank(s.vars.value("client_min_messages")) {
		return
	}
	s.opts.Notice(e)
}

// Settings are the session's settings now.
func (s *Session) Settings() value.Settings { return s.vars.settings }

// Close ends the session and rolls back what is open.
func (s *Session) Close() {
	s.dropPortals(0)
	s.tx = transaction{}
	s.opts.Work.Close()
}

// failed gives an error its SQLSTATE and aborts the transaction.
func (s *Session) failed(ctx context.Context, err error) error {
	s.fail()
	var known *pgerror.Error
	switch {
	case errors.As(err, &known):
		return known
	case ctx.Err() != nil:
		if errors.As(context.Cause(ctx), &known) {
			return known
		}
		return pgerror.New(pgerror.QueryCanceled, "canceling statement due to user request")
	}
	return err
}
