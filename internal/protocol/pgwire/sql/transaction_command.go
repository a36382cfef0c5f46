package sql

import (
	"context"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/settings"
)

// transactionCommand runs BEGIN, COMMIT, SAVEPOINT and similar commands, and returns the command
// tag.
func (s *Session) transactionCommand(ctx context.Context, n *pg.TransactionStmt) (string, error) {
	switch n.Kind {
	case pg.TransactionStmtKind_TRANS_STMT_BEGIN:
		return "BEGIN", s.begin(n)
	case pg.TransactionStmtKind_TRANS_STMT_START:
		return "START TRANSACTION", s.begin(n)
	case pg.TransactionStmtKind_TRANS_STMT_COMMIT:
		return s.end(ctx, n)
	case pg.TransactionStmtKind_TRANS_STMT_ROLLBACK:
		return s.rollback(n)
	case pg.TransactionStmtKind_TRANS_STMT_SAVEPOINT:
		return "SAVEPOINT", s.setSavepoint(n.SavepointName)
	case pg.TransactionStmtKind_TRANS_STMT_RELEASE:
		return "RELEASE", s.releaseSavepoint(n.SavepointName)
	case pg.TransactionStmtKind_TRANS_STMT_ROLLBACK_TO:
		return "ROLLBACK", s.rollbackTo(n.SavepointName)
	case pg.TransactionStmtKind_TRANS_STMT_PREPARE:
		return s.prepareTransaction(ctx, n)
	}
	command := "COMMIT PREPARED"
	if n.Kind == pg.TransactionStmtKind_TRANS_STMT_ROLLBACK_PREPARED {
		command = "ROLLBACK PREPARED"
	}
	if err := s.notInBlock(command); err != nil {
		return "", err
	}
	return "", pgerror.New(pgerror.UndefinedObject, `prepared transaction with identifier "%s" does not exist`, n.Gid)
}

func (s *Session) begin(n *pg.TransactionStmt) error {
	if s.tx.state == txBlock {
		s.warn(pgerror.ActiveTransaction, "there is already a transaction in progress")
	}
	before := s.tx.state
	s.tx.state = txBlock
	err := s.modes(n.Options)
	if err != nil {
		s.tx.state = before // the block was not started
	}
	return err
}

// end runs COMMIT.
func (s *Session) end(ctx context.Context, n *pg.TransactionStmt) (string, error) {
	old := s.tx
	switch old.state {
	case txFailed:
		s.abandon()
		s.chain(n.Chain, old)
		return "ROLLBACK", nil
	case txBlock:
		if err := s.commit(ctx); err != nil {
			return "", err
		}
		s.chain(n.Chain, old)
		return "COMMIT", nil
	}
	if n.Chain {
		return "", s.inBlock("COMMIT AND CHAIN")
	}
	s.warn(pgerror.NoActiveTransaction, "there is no transaction in progress")
	return "COMMIT", s.commit(ctx)
}

// prepareTransaction runs PREPARE TRANSACTION, which ends a transaction block as PostgreSQL does
// without prepared transactions.
func (s *Session) prepareTransaction(ctx context.Context, n *pg.TransactionStmt) (string, error) {
	switch s.tx.state {
	case txImplicit:
		s.warn(pgerror.NoActiveTransaction, "there is no transaction in progress")
		fallthrough
	case txBlock:
		s.abandon()
		return "", pgerror.New("55000", "prepared transactions are disabled").
			WithHint("Set max_prepared_transactions to a nonzero value.")
	}
	_, err := s.end(ctx, n)
	return "ROLLBACK", err
}

func (s *Session) rollback(n *pg.TransactionStmt) (string, error) {
	old := s.tx
	if old.state == txBlock || old.state == txFailed {
		s.abandon()
		s.chain(n.Chain, old)
		return "ROLLBACK", nil
	}
	if n.Chain {
		return "", s.inBlock("ROLLBACK AND CHAIN")
	}
	s.warn(pgerror.NoActiveTransaction, "there is no transaction in progress")
	s.abandon()
	return "ROLLBACK", nil
}

// chain begins a transaction with the characteristics of the one that just ended, if wanted is set.
func (s *Session) chain(wanted bool, old transaction) {
	if wanted {
		s.start()
		s.tx.state, s.tx.Modes = txBlock, old.Modes
	}
}

func (s *Session) setSavepoint(name string) error {
	if err := s.inBlock("SAVEPOINT"); err != nil {
		return err
	}
	s.work()
	s.tx.lastSave++
	s.tx.saves = append(s.tx.saves, savepoint{name, s.tx.lastSave, s.opts.Work.Savepoint(), s.vars.Snapshot(), s.tx.Modes})
	return nil
}

func (s *Session) releaseSavepoint(name string) error {
	if err := s.inBlock("RELEASE SAVEPOINT"); err != nil {
		return err
	}
	i, err := s.savepoint(name)
	if err != nil {
		return err
	}
	released := s.tx.saves[i].id
	s.leaveSavepoint(s.tx.saves[i])
	s.tx.saves = s.tx.saves[:i]
	s.adoptPortals(released, s.subtransaction())
	return nil
}

func (s *Session) rollbackTo(name string) error {
	if err := s.inBlock("ROLLBACK TO SAVEPOINT"); err != nil {
		return err
	}
	i, err := s.savepoint(name)
	if err != nil {
		return err
	}
	s.dropPortals(s.tx.saves[i].id)
	s.undoTo(s.tx.saves[i])
	s.tx.saves = s.tx.saves[:i+1]
	s.tx.state = txBlock
	return nil
}

// modes applies the transaction modes of BEGIN or SET TRANSACTION.
func (s *Session) modes(options []*pg.Node) error {
	for _, o := range options {
		d := o.GetDefElem()
		if err := s.mode(d.GetDefname(), constantText(d.GetArg())); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) mode(name, val string) error {
	switch name {
	case "transaction_isolation":
		level, err := settings.Lookup(name).Canonical(val)
		if err != nil {
			return err
		}
		if level != s.tx.Level {
			if s.tx.queried {
				return pgerror.New(pgerror.ActiveTransaction, "SET TRANSACTION ISOLATION LEVEL must be called before any query")
			}
			if len(s.tx.saves) > 0 {
				return pgerror.New(pgerror.ActiveTransaction, "SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction")
			}
		}
		s.tx.Level = level
	case "transaction_read_only":
		readOnly, _ := settings.ParseBool(val)
		if !readOnly && s.tx.ReadOnly && len(s.tx.saves) > 0 {
			return pgerror.New(pgerror.ActiveTransaction, "cannot set transaction read-write mode inside a read-only transaction")
		}
		if !readOnly && s.tx.ReadOnly && s.tx.queried {
			return pgerror.New(pgerror.ActiveTransaction, "transaction read-write mode must be set before any query")
		}
		if readOnly != s.tx.ReadOnly && s.tx.begun {
			s.opts.Work.Begin(readOnly)
		}
		s.tx.ReadOnly = readOnly
	case "transaction_deferrable":
		s.tx.Deferrable, _ = settings.ParseBool(val)
	}
	return nil
}
