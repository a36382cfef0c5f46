package sql

import "time"

// What the protocol asks of a session beside running statements.

// Setting is a setting with its value as SHOW gives it.
type Setting struct{ Name, Value string }

// SetDefault sets what a setting is at the start of the session, by a parameter of the start-up packet or by the server, and what RESET
// goes back to. Errors: 42704 for a setting that there is not, 22023 for a value that does not fit, 55P02 for one that cannot be set.
func (s *Session) SetDefault(name, value string) error { return nil }

// Reported are the settings that clients are told about when the session begins, in PostgreSQL's order; Options.Parameter tells of their
// changes.
func (s *Session) Reported() []Setting { return nil }

// IdleInTransactionTimeout and IdleTimeout are the settings idle_in_transaction_session_timeout and idle_session_timeout; 0 is never.
func (s *Session) IdleInTransactionTimeout() time.Duration { return 0 }

// IdleTimeout is how long the session may be idle outside of a transaction; 0 is for ever.
func (s *Session) IdleTimeout() time.Duration { return 0 }

// Store keeps a prepared statement under a name, which EXECUTE and DEALLOCATE see, too. The statement named "" replaces the one before.
// Errors: 42P05.
func (s *Session) Store(name string, p *Prepared) error { return nil }

// Statement finds a prepared statement. Errors: 26000.
func (s *Session) Statement(name string) (*Prepared, error) { return nil, nil }

// Deallocate forgets a prepared statement; it may be one that there is not.
func (s *Session) Deallocate(name string) {}
