package sql

import (
	"context"
	"time"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/settings"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
)

// txState is the state of a session's transaction. The names are those of PostgreSQL's manual, the
// rules those of its xact.c.
type txState byte

const (
	txNone      txState = iota // between statements
	txStatement                // a single statement, or the messages up to a Sync
	txImplicit                 // the statements of one simple query
	txBlock                    // after BEGIN
	txFailed                   // after BEGIN and an error
)

// transaction is the state of the session's transaction.
type transaction struct {
	state   txState
	begun   bool // Work.Begin was called, but not yet Commit or Rollback
	queried bool // a statement that takes a snapshot has run
	piped   bool // a statement of the extended protocol has run since the last Sync
	alone   bool // it is a command that commits by itself
	settings.Modes
	now      temporal.TimestampTZ
	before   settings.Snapshot // the settings to restore on rollback
	id       int64             // the result of txid_current; 0: not assigned yet
	saves    []savepoint
	lastSave int
}

// savepoint is one SAVEPOINT. Invariant: ids increase along the stack and are never reused within
// the transaction.
type savepoint struct {
	name   string
	id     int
	mark   int // of Work
	before settings.Snapshot
	modes  settings.Modes // of the transaction; they return to these, also at RELEASE
}

func micros(t time.Time) temporal.TimestampTZ {
	return temporal.TimestampTZ(t.UnixMicro() - postgresEpoch)
}

// postgresEpoch is 2000-01-01 in Unix microseconds.
const postgresEpoch = 946684800000000

// start begins a transaction for a statement if there is none.
func (s *Session) start() {
	if s.tx.state != txNone {
		return
	}
	s.tx = transaction{
		state: txStatement, now: micros(time.Now()), before: s.vars.Snapshot(), Modes: s.vars.Modes(),
	}
}

// work begins the transaction of Work, before the first statement that may need it.
func (s *Session) work() {
	if !s.tx.begun {
		s.tx.begun = true
		s.opts.Work.Begin(s.tx.ReadOnly)
	}
}

// commit ends the transaction, whatever its kind. If it returns an error, the transaction is rolled
// back. The end of ctx ends the reading of cursors, and waits as in Work.Commit.
func (s *Session) commit(ctx context.Context) error {
	if err := s.holdCursors(ctx); err != nil {
		s.abandon()
		return err
	}
	if s.tx.begun {
		s.tx.begun = false
		if err := s.opts.Work.Commit(ctx); err != nil {
			s.abandon()
			return err
		}
	}
	s.dropPortals(0)
	s.tx = transaction{}
	s.vars.EndLocal()
	s.report()
	return nil
}

// abandon rolls back the whole transaction and ends it.
func (s *Session) abandon() {
	s.dropPortals(0)
	if s.tx.begun {
		s.tx.begun = false
		s.opts.Work.Rollback()
	}
	if s.tx.state != txNone {
		s.vars.Restore(s.tx.before)
	}
	s.tx = transaction{}
	s.report()
}

// fail handles an error. The transaction of a statement is rolled back and ended. A transaction
// block stays open as failed; the changes since the innermost savepoint are undone at once.
func (s *Session) fail() {
	switch s.tx.state {
	case txNone, txFailed:
		return
	case txStatement, txImplicit:
		s.abandon()
		return
	}
	s.tx.state = txFailed
	if n := len(s.tx.saves); n > 0 {
		s.failPortals(s.tx.saves[n-1].id)
		s.undoTo(s.tx.saves[n-1])
		return
	}
	s.failPortals(0)
	if s.tx.begun {
		s.tx.begun = false
		s.opts.Work.Rollback()
	}
	s.vars.Restore(s.tx.before)
	s.tx.Modes = s.vars.Modes() // AND CHAIN continues with these
	s.report()
}

// undoTo undoes everything after a savepoint.
func (s *Session) undoTo(save savepoint) {
	s.opts.Work.RollbackTo(save.mark)
	s.vars.Restore(save.before)
	s.leaveSavepoint(save)
	s.report()
}

// leaveSavepoint restores the modes of the transaction that a subtransaction has changed.
func (s *Session) leaveSavepoint(save savepoint) {
	if s.tx.ReadOnly != save.modes.ReadOnly {
		s.opts.Work.Begin(save.modes.ReadOnly)
	}
	s.tx.Modes = save.modes
}

// Status returns the transaction status for ReadyForQuery: I, T or E.
func (s *Session) Status() byte {
	switch s.tx.state {
	case txBlock:
		return 'T'
	case txFailed:
		return 'E'
	}
	return 'I'
}

// Fail records an error detected by the protocol, such as a malformed Bind. The transaction is
// aborted as by a failed statement.
func (s *Session) Fail() { s.fail() }

// Sync ends the implicit transaction of a simple query or of the messages up to a Sync. It commits
// the transaction, or rolls it back after an error. A cancel request cancels ctx.
func (s *Session) Sync(ctx context.Context) error {
	if s.tx.state != txStatement && s.tx.state != txImplicit {
		return nil
	}
	ctx, cancel := s.limited(ctx)
	defer cancel()
	if err := s.commit(ctx); err != nil {
		return s.failed(ctx, err)
	}
	return nil
}

// Aborted returns the error for a command in a failed transaction.
func Aborted() error {
	return pgerror.New(pgerror.FailedTransaction, "current transaction is aborted, commands ignored until end of transaction block")
}

func (s *Session) warn(code, format string, args ...any) {
	e := pgerror.New(code, format, args...)
	e.Severity = "WARNING"
	s.notice(e)
}

func (s *Session) savepoint(name string) (int, error) {
	for i := len(s.tx.saves) - 1; i >= 0; i-- {
		if s.tx.saves[i].name == name {
			return i, nil
		}
	}
	return 0, pgerror.New(pgerror.InvalidSavepoint, `savepoint "%s" does not exist`, name)
}

// inBlock returns an error outside of a transaction block.
func (s *Session) inBlock(command string) error {
	if s.tx.state == txBlock || s.tx.state == txFailed {
		return nil
	}
	return pgerror.New(pgerror.NoActiveTransaction, "%s can only be used in transaction blocks", command)
}

// notInBlock returns an error for a command that cannot run in a transaction block or a pipeline.
func (s *Session) notInBlock(command string) error {
	switch {
	case s.inner > 0:
		return pgerror.New(pgerror.ActiveTransaction, "%s cannot be executed from a function", command)
	case s.tx.state != txStatement:
		return pgerror.New(pgerror.ActiveTransaction, "%s cannot run inside a transaction block", command)
	case s.tx.piped:
		return pgerror.New(pgerror.ActiveTransaction, "%s cannot be executed within a pipeline", command)
	}
	s.tx.alone = true
	return nil
}

// subtransaction returns the id of the innermost savepoint, or 0 if there is none.
func (s *Session) subtransaction() int {
	if n := len(s.tx.saves); n > 0 {
		return s.tx.saves[n-1].id
	}
	return 0
}
