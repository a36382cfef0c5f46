package sql

import (
	"context"
	"time"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/settings"
)

// The part of a session's interface that the protocol uses besides running statements.

// Setting is a setting with its value in the format of SHOW.
type Setting struct{ Name, Value string }

// SetDefault sets the value that a setting has at the start of the session and after RESET. It
// comes from a parameter of the start-up packet or from the server. Errors: 42704 for an unknown
// setting, 22023 for an invalid value, 55P02 for a read-only setting.
func (s *Session) SetDefault(name, value string) error {
	if err := s.vars.SetDefault(name, value); err != nil {
		return err
	}
	s.report()
	return nil
}

// Reported returns the settings that are reported to clients at the start of a session, in
// PostgreSQL's order. Options.Parameter receives changes.
func (s *Session) Reported() []Setting {
	all := make([]Setting, len(settings.Reported))
	for i, name := range settings.Reported {
		all[i] = Setting{name, s.vars.Value(name)}
	}
	return all
}

// report notifies the client of changes of reported settings.
func (s *Session) report() {
	if s.reportedAt == s.vars.Epoch() {
		return
	}
	s.reportedAt = s.vars.Epoch()
	for _, now := range s.Reported() {
		if s.told[now.Name] == now.Value {
			continue
		}
		s.told[now.Name] = now.Value
		if s.opts.Parameter != nil {
			s.opts.Parameter(now.Name, now.Value)
		}
	}
}

// IdleInTransactionTimeout returns idle_in_transaction_session_timeout; 0 means no limit.
func (s *Session) IdleInTransactionTimeout() time.Duration {
	return s.vars.Duration("idle_in_transaction_session_timeout")
}

// IdleTimeout returns idle_session_timeout; 0 means no limit.
func (s *Session) IdleTimeout() time.Duration { return s.vars.Duration("idle_session_timeout") }

// Store stores a prepared statement under a name, which EXECUTE and DEALLOCATE can use, too. The
// unnamed statement is replaced. Errors: 42P05.
func (s *Session) Store(name string, p *Prepared) error {
	if err := s.store(name, p); err != nil {
		return s.failed(context.Background(), err)
	}
	return nil
}

func (s *Session) store(name string, p *Prepared) error {
	if name != "" && s.statements[name] != nil {
		return pgerror.New(pgerror.DuplicatePrepared, `prepared statement "%s" already exists`, name)
	}
	s.statements[name] = p
	return nil
}

// Statement returns a prepared statement. Errors: 26000.
func (s *Session) Statement(name string) (*Prepared, error) {
	p, err := s.statement(name)
	if err != nil {
		return nil, s.failed(context.Background(), err)
	}
	return p, nil
}

func (s *Session) statement(name string) (*Prepared, error) {
	if p := s.statements[name]; p != nil {
		return p, nil
	}
	if name == "" {
		return nil, pgerror.New(pgerror.InvalidPrepared, "unnamed prepared statement does not exist")
	}
	return nil, pgerror.New(pgerror.InvalidPrepared, `prepared statement "%s" does not exist`, name).From("FetchPreparedStatement")
}

// Deallocate removes a prepared statement, if it exists.
func (s *Session) Deallocate(name string) { delete(s.statements, name) }
