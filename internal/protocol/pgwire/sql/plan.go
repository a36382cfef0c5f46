package sql

import (
	"context"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// plan is a planned statement. One of query, command and transaction is set.
type plan struct {
	columns []value.Field // nil: it returns no rows

	query       query                           // returns its rows on demand
	late        query                           // the variant of query that is committed before its rows are sent; nil: none
	command     func(*expr.Env) (result, error) // runs to completion at once
	transaction *pg.TransactionStmt

	doomed  error  // fails each run before its rows are described: PostgreSQL evaluates constants first
	writes  string // the command's name, when a read-only transaction refuses it
	utility bool   // it neither reads nor changes what Work guards
	quiet   bool   // it may come before SET TRANSACTION ISOLATION LEVEL
}

// result is the result of a command.
type result struct {
	tag  string
	rows [][]value.Datum
}

// query produces rows: a SELECT or a similar construct. It holds no state of a run.
type query interface {
	columns() []value.Field
	// run passes the rows to emit one by one, each valid until emit returns. An error of emit ends
	// the run and is returned. env.Rows are those of the enclosing statement.
	run(env *expr.Env, emit func(row []value.Datum) error) error
	// none reports whether constants and parameters alone make it empty, so that what it is joined
	// to need not be read.
	none(env *expr.Env) bool
}

// planner plans one statement.
type planner struct {
	s      *Session
	text   string
	params *expr.Params
	env    *expr.Env
	path   []string // search path
	reach  int      // the outermost level referenced since reach was set
}

// planStatement plans a statement whose first parameters have the given types, nil for unknown.
func (s *Session) planStatement(p *Prepared, given []*value.Type) (*plan, []*value.Type, error) {
	pl := &planner{s: s, text: p.Text, env: s.env(context.Background())}
	pl.path = pl.env.Path
	if p.simple != notSimple { // and has no parameters
		made, err := pl.statement(p.stmt, p)
		return made, nil, err
	}
	pl.params = &expr.Params{Types: slices.Clone(given)}
	made, err := pl.statement(p.stmt, p)
	if err != nil {
		return nil, nil, err
	}
	for i, t := range pl.params.Types {
		if t == nil {
			return nil, nil, pgerror.New(pgerror.IndeterminateType, "could not determine data type of parameter $%d", i+1)
		}
	}
	return made, pl.params.Types, nil
}

// statement plans any statement.
func (p *planner) statement(n *pg.Node, of *Prepared) (*plan, error) {
	switch n := n.GetNode().(type) {
	case *pg.Node_SelectStmt:
		return p.queryPlan(n.SelectStmt)
	case *pg.Node_InsertStmt:
		return p.insert(n.InsertStmt)
	case *pg.Node_UpdateStmt:
		return p.update(n.UpdateStmt)
	case *pg.Node_DeleteStmt:
		return p.delete(n.DeleteStmt)
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
	if err := p.refuseSampling(n); err != nil {
		return nil, err
	}
	q, err := p.query(n, nil)
	if err != nil {
		return nil, err
	}
	columns := q.columns()
	if columns == nil {
		columns = []value.Field{} // a SELECT without columns still returns rows
	}
	made := &plan{columns: columns, query: q, late: late(q)}
	if s, ok := q.(*selectQuery); ok {
		made.doomed = s.doomed()
	}
	return made, nil
}

func unsupported(what string) *pgerror.Error {
	return pgerror.New(pgerror.FeatureNotSupported, "%s is not supported", what)
}

// functions returns the functions with a name, in all schemas of the search path if the statement
// names no schema.
func (p *planner) functions(schema, name string) []*expr.Function {
	var found []*expr.Function
	names := p.path
	if schema != "" {
		names = []string{schema}
	}
	for _, in := range p.s.schemas(names) {
		found = append(found, in.Functions(p.env, name)...)
	}
	return found
}

func (p *planner) typ(schema, name string) *value.Type {
	names := p.path
	if schema != "" {
		names = []string{schema}
	}
	for _, in := range p.s.schemas(names) {
		if t := in.Type(name); t != nil {
			return t
		}
	}
	return nil
}

// relation returns a table or view.
func (p *planner) relation(n *pg.RangeVar) (Relation, error) {
	if n.Catalogname != "" && n.Catalogname != p.s.opts.Database {
		return nil, pgerror.New(pgerror.FeatureNotSupported, `cross-database references are not implemented: "%s.%s.%s"`,
			n.Catalogname, n.Schemaname, n.Relname).At(p.text, n.Location)
	}
	names, shown := p.path, n.Relname
	if n.Schemaname != "" {
		names, shown = []string{n.Schemaname}, n.Schemaname+"."+n.Relname
	}
	for _, in := range p.s.schemas(names) {
		if r := in.Relation(p.env, n.Relname); r != nil {
			return r, nil
		}
	}
	return nil, pgerror.New(pgerror.UndefinedTable, `relation "%s" does not exist`, shown).At(p.text, n.Location)
}

// path returns the effective search path: pg_catalog is first unless it is named elsewhere.
func (s *Session) path() []string {
	if s.pathAt != s.vars.epoch {
		names := slices.DeleteFunc(s.vars.path(s.opts.User), func(name string) bool { return !s.hasSchema(name) })
		s.pathImplied = !slices.Contains(names, catalogName)
		if s.pathImplied {
			names = append([]string{catalogName}, names...)
		}
		s.pathNow, s.pathAt = names, s.vars.epoch
	}
	return s.pathNow
}

const catalogName = "pg_catalog"

// schemas returns the schemas with these names, in the given order.
func (s *Session) schemas(names []string) []Schema {
	var found []Schema
	for _, name := range names {
		if name == catalogName {
			found = append(found, s.builtin)
		}
		for _, in := range s.opts.Schemas {
			if in.Name() == name {
				found = append(found, in)
			}
		}
	}
	return found
}

// hasSchema reports whether a schema of that name exists.
func (s *Session) hasSchema(name string) bool {
	return len(s.schemas([]string{name})) > 0
}

// names returns the strings of a list of names.
func names(list []*pg.Node) []string {
	all := make([]string, len(list))
	for i, n := range list {
		all[i] = n.GetString_().GetSval()
	}
	return all
}
