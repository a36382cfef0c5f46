package sql

import (
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/query"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/tree"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// utility plans the commands that return no rows.
func (p *planner) utility(node *pg.Node) (*plan, error) {
	s := p.s
	switch n := node.GetNode().(type) {
	case *pg.Node_VariableSetStmt:
		return s.quietly(func() (string, error) { return s.setCommand(n.VariableSetStmt) }), nil
	case *pg.Node_DeallocateStmt:
		return s.simply(func() (string, error) { return s.deallocate(n.DeallocateStmt) }), nil
	case *pg.Node_ClosePortalStmt:
		return p.closeCursor(n.ClosePortalStmt), nil
	case *pg.Node_DiscardStmt:
		return s.simply(func() (string, error) { return s.discard(n.DiscardStmt) }), nil
	case *pg.Node_ConstraintsSetStmt:
		return s.quietly(func() (string, error) { return "SET CONSTRAINTS", nil }), nil
	case *pg.Node_LockStmt:
		return p.lock(n.LockStmt)
	case *pg.Node_VacuumStmt:
		return p.vacuum(n.VacuumStmt)
	case *pg.Node_UnlistenStmt:
		return s.quietly(func() (string, error) { return "UNLISTEN", nil }), nil
	case *pg.Node_CheckPointStmt:
		return s.quietly(func() (string, error) { return "CHECKPOINT", nil }), nil
	case *pg.Node_CreateExtensionStmt:
		return p.createExtension(n.CreateExtensionStmt)
	case *pg.Node_DropStmt:
		return p.drop(n.DropStmt)
	}
	return nil, s.refuse(tree.CommandName(node))
}

// simply returns the plan of a command that is executed in one step.
func (s *Session) simply(do func() (string, error)) *plan {
	return &plan{utility: true, command: func(*expr.Env) (query.Result, error) {
		tag, err := do()
		return query.Result{Tag: tag}, err
	}}
}

// quietly is simply for commands that may precede SET TRANSACTION ISOLATION LEVEL.
func (s *Session) quietly(do func() (string, error)) *plan {
	p := s.simply(do)
	p.quiet = true
	return p
}

// lock plans LOCK TABLE. It locks nothing, because no table can change during a transaction.
func (p *planner) lock(n *pg.LockStmt) (*plan, error) {
	for _, r := range n.Relations {
		if _, err := p.Relation(r.GetRangeVar()); err != nil {
			return nil, err
		}
	}
	s := p.s
	return s.quietly(func() (string, error) {
		if s.tx.state == txStatement {
			return "", s.inBlock("LOCK TABLE")
		}
		return "LOCK TABLE", nil
	}), nil
}

// vacuum plans VACUUM and ANALYZE, which scripts for queues in PostgreSQL run regularly. They have
// nothing to do.
func (p *planner) vacuum(n *pg.VacuumStmt) (*plan, error) {
	for _, r := range n.Rels {
		if _, err := p.Relation(r.GetVacuumRelation().GetRelation()); err != nil {
			return nil, err
		}
	}
	s := p.s
	return s.simply(func() (string, error) {
		if !n.IsVacuumcmd {
			return "ANALYZE", nil
		}
		return "VACUUM", s.notInBlock("VACUUM")
	}), nil
}

// discard runs DISCARD ALL and its variants.
func (s *Session) discard(n *pg.DiscardStmt) (string, error) {
	switch n.Target {
	case pg.DiscardMode_DISCARD_ALL:
		if err := s.notInBlock("DISCARD ALL"); err != nil {
			return "", err
		}
		for name, o := range s.portals {
			if o.cursor != nil {
				s.Release(name)
			}
		}
		clear(s.statements)
		s.vars.ResetAll()
		s.report()
		return "DISCARD ALL", nil
	case pg.DiscardMode_DISCARD_PLANS:
		return "DISCARD PLANS", nil
	case pg.DiscardMode_DISCARD_SEQUENCES:
		return "DISCARD SEQUENCES", nil
	}
	return "DISCARD TEMP", nil
}

func (s *Session) deallocate(n *pg.DeallocateStmt) (string, error) {
	if n.Name == "" {
		clear(s.statements)
		return "DEALLOCATE ALL", nil
	}
	if _, err := s.statement(n.Name); err != nil {
		return "", err
	}
	delete(s.statements, n.Name)
	return "DEALLOCATE", nil
}

// prepareCommand plans PREPARE name AS.
func (p *planner) prepareCommand(n *pg.PrepareStmt, of *Prepared) (*plan, error) {
	s := p.s
	made := &Prepared{Text: of.Text, stmt: n.Query, source: of.source, sql: true}
	for _, t := range n.Argtypes {
		typ, err := p.TypeOf(t.GetTypeName())
		if err != nil {
			return nil, err
		}
		if typ == value.Unknown {
			typ = nil
		}
		made.given = append(made.given, typ)
	}
	return s.simply(func() (string, error) {
		made := *made
		made.made = micros(time.Now())
		if err := s.replan(&made); err != nil {
			return "", err
		}
		return "PREPARE", s.store(n.Name, &made)
	}), nil
}

// execute plans EXECUTE name(...).
func (p *planner) execute(n *pg.ExecuteStmt) (*plan, error) {
	s := p.s
	of, err := s.statement(n.Name)
	if err != nil {
		return nil, err
	}
	if err := s.replan(of); err != nil {
		return nil, err
	}
	if len(n.Params) != len(of.Params) {
		return nil, pgerror.New(pgerror.SyntaxError, `wrong number of parameters for prepared statement "%s"`, n.Name).
			WithDetail("Expected %d parameters but got %d.", len(of.Params), len(n.Params))
	}
	args, err := p.Arguments(n.Params, of.Params)
	if err != nil {
		return nil, err
	}
	target := *of.plan
	bind := func(env *expr.Env) (*expr.Env, error) {
		vals, err := args.Values(env)
		inner := s.env(env.Ctx)
		inner.Params, inner.Ends = vals, env.Ends
		return inner, err
	}
	if target.transaction != nil {
		return nil, pgerror.Unsupported("EXECUTE of a command of transactions")
	}
	if target.query != nil {
		target.query = target.query.Bound(bind)
		return &target, nil
	}
	run := target.command
	target.command = func(env *expr.Env) (query.Result, error) {
		inner, err := bind(env)
		if err != nil {
			return query.Result{}, err
		}
		return run(inner)
	}
	return &target, nil
}
