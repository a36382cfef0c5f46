package sql

import (
	"errors"
	"strings"
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/builtin"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
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
	return nil, s.refuse(commandName(node))
}

// simply returns the plan of a command that is executed in one step.
func (s *Session) simply(do func() (string, error)) *plan {
	return &plan{utility: true, command: func(*expr.Env) (result, error) {
		tag, err := do()
		return result{tag: tag}, err
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
		if _, err := p.relation(r.GetRangeVar()); err != nil {
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
		if _, err := p.relation(r.GetVacuumRelation().GetRelation()); err != nil {
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

// commandName returns the name of a command in upper case, derived from the name of its node:
// CreateTableAsStmt is CREATE TABLE AS.
func commandName(n *pg.Node) string {
	m := n.ProtoReflect()
	inner := m.WhichOneof(m.Descriptor().Oneofs().Get(0))
	if inner == nil {
		return "this statement"
	}
	if name, ok := commandNames[string(inner.Message().Name())]; ok {
		return name
	}
	var b strings.Builder
	for i, c := range strings.TrimSuffix(string(inner.Message().Name()), "Stmt") {
		if i > 0 && c >= 'A' && c <= 'Z' {
			b.WriteByte(' ')
		}
		b.WriteRune(c)
	}
	return strings.ToUpper(b.String())
}

// commandNames are the names of commands that differ from the names of their nodes.
var commandNames = map[string]string{
	"CreateStmt": "CREATE TABLE", "IndexStmt": "CREATE INDEX", "ViewStmt": "CREATE VIEW", "DefineStmt": "CREATE", "CompositeTypeStmt": "CREATE TYPE",
	"CreateSeqStmt": "CREATE SEQUENCE", "CreateTrigStmt": "CREATE TRIGGER", "RuleStmt": "CREATE RULE", "CreatedbStmt": "CREATE DATABASE",
	"DropdbStmt": "DROP DATABASE", "AlterObjectSchemaStmt": "ALTER", "RenameStmt": "ALTER", "CreateEnumStmt": "CREATE TYPE", "TruncateStmt": "TRUNCATE TABLE",
	"AlterRoleSetStmt": "ALTER ROLE", "AlterSystemStmt": "ALTER SYSTEM", "RefreshMatViewStmt": "REFRESH MATERIALIZED VIEW", "DeleteStmt": "DELETE",
	"CreateForeignServerStmt": "CREATE SERVER", "CreateFdwStmt": "CREATE FOREIGN DATA WRAPPER", "SecLabelStmt": "SECURITY LABEL",
	"CreatePlangStmt": "CREATE LANGUAGE", "MergeStmt": "MERGE", "ReassignOwnedStmt": "REASSIGN OWNED", "LoadStmt": "LOAD",
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
		s.vars.resetAll()
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
	c := &expr.Compiler{Text: p.text, Library: builtin.Library, Type: p.typ}
	for _, t := range n.Argtypes {
		typ, _, err := c.TypeOf(t.GetTypeName())
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
	l := p.level(nil)
	args := make([]expr.Expr, len(n.Params))
	for i, a := range n.Params {
		e, err := l.compile(a, clause{name: "EXECUTE parameters"})
		if err != nil {
			return nil, err
		}
		if args[i], err = l.argument(e, of.Params[i], i, expr.Location(a)); err != nil {
			return nil, err
		}
	}
	target := *of.plan
	bind := func(env *expr.Env) (*expr.Env, error) {
		_, around, inside := l.push(env)
		env.Rows = inside
		vals, _, err := expr.EvalArgs(env, args)
		env.Rows = around
		inner := s.env(env.Ctx)
		inner.Params, inner.Ends = vals, env.Ends
		return inner, err
	}
	if target.transaction != nil {
		return nil, unsupported("EXECUTE of a command of transactions")
	}
	if inner := target.query; inner != nil {
		target.query = &bound{inner, bind}
		if late := target.late; late != nil {
			target.late = &bound{late, bind}
		}
		return &target, nil
	}
	run := target.command
	target.command = func(env *expr.Env) (result, error) {
		inner, err := bind(env)
		if err != nil {
			return result{}, err
		}
		return run(inner)
	}
	return &target, nil
}

// argument converts an argument of EXECUTE to the type of its parameter.
func (l *level) argument(e expr.Expr, t *value.Type, i int, location int32) (expr.Expr, error) {
	made, err := l.compiler().Assign(e, t, -1, "", location)
	var wrong *pgerror.Error
	if errors.As(err, &wrong) && wrong.Code == pgerror.DatatypeMismatch {
		return nil, l.error(pgerror.DatatypeMismatch, location, "parameter $%d of type %s cannot be coerced to the expected type %s",
			i+1, e.Type(), t).WithHint("You will need to rewrite or cast the expression.")
	}
	return made, err
}

// bound is a prepared query with bound parameters.
type bound struct {
	query
	bind func(*expr.Env) (*expr.Env, error)
}

func (b *bound) run(env *expr.Env, emit func([]value.Datum) error) error {
	inner, err := b.bind(env)
	if err != nil {
		return err
	}
	return b.query.run(inner, emit)
}
