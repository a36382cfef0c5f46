package sql

import (
	"context"
	"time"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// What the protocol asks of a session beside running statements.

// Setting is a setting with its value as SHOW gives it.
type Setting struct{ Name, Value string }

// SetDefault sets what a setting is at the start of the session, by a parameter of the start-up
// packet or by the server, and what RESET goes back to. Errors: 42704 for a setting that there is
// not, 22023 for a value that does not fit, 55P02 for one that cannot be set.
func (s *Session) SetDefault(name, value string) error {
	value, err := s.vars.check(name, value)
	if err != nil {
		return err
	}
	s.vars.setDefault(name, value)
	s.report()
	return nil
}

// Reported are the settings that clients are told about when the session begins, in PostgreSQL's
// order; Options.Parameter tells of their changes.
func (s *Session) Reported() []Setting {
	all := make([]Setting, len(reportedOrder))
	for i, name := range reportedOrder {
		all[i] = Setting{name, s.vars.value(name)}
	}
	return all
}

// report tells the client of the reported settings that have changed.
func (s *Session) report() {
	if s.reportedAt == s.vars.epoch {
		return
	}
	s.reportedAt = s.vars.epoch
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

// IdleInTransactionTimeout and IdleTimeout are the settings idle_in_transaction_session_timeout and
// idle_session_timeout; 0 is never.
func (s *Session) IdleInTransactionTimeout() time.Duration {
	return s.vars.duration("idle_in_transaction_session_timeout")
}

// IdleTimeout is how long the session may be idle outside of a transaction; 0 is for ever.
func (s *Session) IdleTimeout() time.Duration { return s.vars.duration("idle_session_timeout") }

// Store keeps a prepared statement under a name, which EXECUTE and DEALLOCATE see, too. The
// statement named "" replaces the one before. Errors: 42P05.
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

// Statement finds a prepared statement. Errors: 26000.
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
	return nil, pgerror.New(pgerror.InvalidPrepared, `prepared statement "%s" does not exist`, name)
}

// Deallocate forgets a prepared statement; it may be one that there is not.
func (s *Session) Deallocate(name string) { delete(s.statements, name) }
