package sql

import (
	"context"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/query"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// plan is a planned statement. One of query, command and transaction is set.
type plan struct {
	columns []value.Field // nil: it returns no rows

	query       *query.Select                         // returns its rows on demand
	command     func(*expr.Env) (query.Result, error) // runs to completion at once
	transaction *pg.TransactionStmt

	doomed  error  // fails each run before its rows are described: PostgreSQL evaluates constants first
	writes  string // the command's name, when a read-only transaction refuses it
	utility bool   // it neither reads nor changes what Work guards
	quiet   bool   // it may come before SET TRANSACTION ISOLATION LEVEL
}

// planner plans one statement.
type planner struct {
	query.Planner
	s *Session
}

// planStatement plans a statement whose first parameters have the given types, nil for unknown.
func (s *Session) planStatement(p *Prepared, given []*value.Type) (*plan, []*value.Type, error) {
	pl := &planner{query.Planner{Text: p.Text, Env: s.env(context.Background()), Schemas: s.schemas}, s}
	if p.simple != notSimple { // and has no parameters
		made, err := pl.statement(p.stmt, p)
		return made, nil, err
	}
	pl.Params = &expr.Params{Types: slices.Clone(given)}
	made, err := pl.statement(p.stmt, p)
	if err != nil {
		return nil, nil, err
	}
	for i, t := range pl.Params.Types {
		if t == nil {
			return nil, nil, pgerror.New(pgerror.IndeterminateType, "could not determine data type of parameter $%d", i+1)
		}
	}
	return made, pl.Params.Types, nil
}

// statement plans any statement.
func (p *planner) statement(n *pg.Node, of *Prepared) (*plan, error) {
	switch n := n.GetNode().(type) {
	case *pg.Node_SelectStmt:
		return p.queryPlan(n.SelectStmt)
	case *pg.Node_InsertStmt:
		made, err := p.Insert(n.InsertStmt)
		return changing("INSERT", made, err)
	case *pg.Node_UpdateStmt:
		made, err := p.Update(n.UpdateStmt)
		return changing("UPDATE", made, err)
	case *pg.Node_DeleteStmt:
		made, err := p.Delete(n.DeleteStmt)
		return changing("DELETE", made, err)
	case *pg.Node_TransactionStmt:
		return &plan{transaction: n.TransactionStmt, utility: true, quiet: true}, nil
	case *pg.Node_PrepareStmt:
		return p.prepareCommand(n.PrepareStmt, of)
	case *pg.Node_ExecuteStmt:
		return p.execute(n.ExecuteStmt)
	case *pg.Node_DeclareCursorStmt:
		return p.declare(n.DeclareCursorStmt, of)
	case *pg.Node_FetchStmt:
		return p.fetch(n.FetchStmt), nil
	case *pg.Node_VariableShowStmt:
		return p.show(n.VariableShowStmt)
	case *pg.Node_ExplainStmt:
		return p.explain(n.ExplainStmt)
	case *pg.Node_CopyStmt:
		return p.copyStatement(n.CopyStmt)
	case *pg.Node_GrantStmt:
		return p.grant(n.GrantStmt)
	case *pg.Node_GrantRoleStmt:
		return p.grantRole(n.GrantRoleStmt)
	}
	return p.utility(n)
}

func (p *planner) queryPlan(n *pg.SelectStmt) (*plan, error) {
	if n.IntoClause != nil {
		return nil, p.s.refuse("SELECT INTO")
	}
	q, err := p.Select(n)
	if err != nil {
		return nil, err
	}
	return &plan{columns: q.Columns(), query: q, doomed: q.Doomed()}, nil
}

// changing returns the plan of a command that changes rows.
func changing(command string, c query.Change, err error) (*plan, error) {
	if err != nil {
		return nil, err
	}
	return &plan{writes: command, columns: c.Columns, command: c.Run}, nil
}

// path returns the effective search path: pg_catalog is first unless it is named elsewhere.
func (s *Session) path() []string {
	if s.pathAt != s.vars.Epoch() {
		names := slices.DeleteFunc(s.vars.Path(s.opts.User), func(name string) bool { return !s.schemas.Has(name) })
		s.pathImplied = !slices.Contains(names, catalogName)
		if s.pathImplied {
			names = append([]string{catalogName}, names...)
		}
		s.pathNow, s.pathAt = names, s.vars.Epoch()
	}
	return s.pathNow
}

const catalogName = "pg_catalog"
