package sql

import (
	"context"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// plan is what is to be done for a statement. One of query, command and transaction is set.
type plan struct {
	columns []value.Field // nil: it returns no rows

	query       query                           // gives its rows as they are asked for
	late        query                           // query, when it is to be committed before its rows are shown; nil: it need not be
	command     func(*expr.Env) (result, error) // runs to its end at once
	transaction *pg.TransactionStmt

	doomed  error  // fails each run before its rows are described: PostgreSQL evaluates constants first
	writes  string // the command's name, when a read-only transaction refuses it
	utility bool   // it neither reads nor changes what Work guards
	quiet   bool   // it may come before SET TRANSACTION ISOLATION LEVEL
}

// result is what a command gives.
type result struct {
	tag  string
	rows [][]value.Datum
}

// query is rows, got by a SELECT or what is like it. It holds no state of a run.
type query interface {
	columns() []value.Field
	// run gives the rows one by one, each valid until emit returns. An error of emit ends it and is
	// returned. env.Rows are those of the statement around it.
	run(env *expr.Env, emit func(row []value.Datum) error) error
	// none tells that constants and parameters alone leave it without rows, so that what it is
	// joined to need not be read.
	none(env *expr.Env) bool
}

// planner plans one statement.
type planner struct {
	s      *Session
	text   string
	params *expr.Params
	env    *expr.Env
	path   []string // search path
	reach  int      // the outermost level that was referred to since it was set
}

// planStatement plans a statement whose first parameters have the types given, nil for unknown
// ones.
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
		columns = []value.Field{} // SELECT without columns still returns rows
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

// functions are those that a name means; of all schemas in the search path when the statement names
// none.
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

// relation finds a table or view.
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

// path is the search path as it counts: pg_catalog is first unless it stands elsewhere.
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

// schemas are those with these names, in this order.
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

// names are the strings of a list of names.
func names(list []*pg.Node) []string {
	all := make([]string, len(list))
	for i, n := range list {
		all[i] = n.GetString_().GetSval()
	}
	return all
}
