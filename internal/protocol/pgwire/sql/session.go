package sql

import (
	"context"
	"errors"
	"time"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/settings"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Options describe a session.
type Options struct {
	User, Database  string
	ApplicationName string
	Superuser       bool
	Schemas         []schema.Schema
	Roles           Roles // nil: GRANT of roles is refused
	Work            Work
	Session         any                      // for expr.Env.Session
	Names           value.Names              // resolves regclass and similar types; may be nil
	Notice          func(*pgerror.Error)     // receives notices; called by the session's goroutine
	Parameter       func(name, value string) // receives changes of reported settings (ParameterStatus)
	Copier          Copier                   // the client of COPY; nil: COPY is refused
	BackendPID      uint32
	// Signal cancels the statement of another session, or terminates the session. It returns false
	// if there is no such session. If it is nil, there is only this session.
	Signal func(pid uint32, terminate bool) (bool, error)
}

// Session runs the statements of one client. Its methods must be called from one goroutine.
type Session struct {
	opts        Options
	vars        settings.Session
	tx          transaction
	statements  map[string]*Prepared
	portals     map[string]*Portal
	schemas     schema.List       // the session's own part of pg_catalog is first
	told        map[string]string // the reported settings as the client knows them
	pathNow     []string          // the search path at pathAt, an epoch of the settings
	pathAt      uint64
	pathImplied bool   // pg_catalog was not named in the path
	inner       int    // number of active calls of Run
	reportedAt  uint64 // the epoch of the settings at the last report
}

// NewSession returns a session in autocommit mode.
func NewSession(o Options) *Session {
	s := &Session{opts: o, statements: map[string]*Prepared{}, portals: map[string]*Portal{}}
	defaults := map[string]string{"application_name": o.ApplicationName, "session_authorization": o.User}
	if o.Superuser {
		defaults["is_superuser"] = "on"
	}
	s.vars = settings.New(o.Names, defaults)
	s.schemas = append(schema.List{newSessionSchema(s)}, o.Schemas...)
	s.told = map[string]string{}
	for _, r := range s.Reported() {
		s.told[r.Name] = r.Value
	}
	return s
}

// env returns the environment of a statement that begins now.
func (s *Session) env(ctx context.Context) *expr.Env {
	now := micros(time.Now())
	env := &expr.Env{
		Ctx: ctx, Settings: s.vars.Values(), Now: s.tx.now, Stmt: now, Clock: clock,
		User: s.opts.User, Database: s.opts.Database, Path: s.path(), Notice: s.notice, Session: s.opts.Session,
	}
	if s.tx.state == txNone {
		env.Now = now
	}
	env.Settings.Now, env.Implied = env.Now, s.pathImplied
	return env
}

func clock() temporal.TimestampTZ { return micros(time.Now()) }

// notice sends a notice to the client unless client_min_messages suppresses it.
func (s *Session) notice(e *pgerror.Error) {
	if s.opts.Notice == nil || severityRank(e.Severity) < severityRank(s.vars.Value("client_min_messages")) {
		return
	}
	s.opts.Notice(e)
}

// Settings returns the current settings of the session.
func (s *Session) Settings() value.Settings { return s.vars.Values() }

// Close ends the session and rolls back the open transaction.
func (s *Session) Close() {
	s.dropPortals(0)
	s.tx = transaction{}
	s.opts.Work.Close()
}

// failed converts an error to one with an SQLSTATE and aborts the transaction.
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
