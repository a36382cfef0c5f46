package query

import (
	"strconv"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/builtin"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Planner plans the queries of one statement.
type Planner struct {
	Text    string       // of the statement, for positions
	Params  *expr.Params // nil: parameters are not allowed
	Env     *expr.Env    // its Path is the search path
	Schemas schema.List
	reach   int // the outermost level referenced since reach was set
}

// Result is the result of a command.
type Result struct {
	Tag  string
	Rows [][]value.Datum
}

// CountTag returns a command tag that ends with a number of rows.
func CountTag(word string, n int) string {
	var buf [32]byte
	return string(strconv.AppendInt(append(buf[:0], word...), int64(n), 10))
}

// Change is a planned INSERT, UPDATE or DELETE.
type Change struct {
	Columns []value.Field // of RETURNING; nil: it returns no rows
	Run     func(*expr.Env) (Result, error)
}

// in returns the schemas in which a name is looked up: all of the search path if the statement
// names none.
func (p *Planner) in(named string) []schema.Schema {
	if named != "" {
		return p.Schemas.Named([]string{named})
	}
	return p.Schemas.Named(p.Env.Path)
}

// functions returns the functions with a name.
func (p *Planner) functions(named, name string) []*expr.Function {
	var found []*expr.Function
	for _, in := range p.in(named) {
		found = append(found, in.Functions(p.Env, name)...)
	}
	return found
}

func (p *Planner) typ(named, name string) *value.Type {
	for _, in := range p.in(named) {
		if t := in.Type(name); t != nil {
			return t
		}
	}
	return nil
}

// TypeOf returns a type by its name in a statement.
func (p *Planner) TypeOf(n *pg.TypeName) (*value.Type, error) {
	t, _, err := (&expr.Compiler{Text: p.Text, Library: builtin.Library, Type: p.typ}).TypeOf(n)
	return t, err
}

// Relation returns a table or view.
func (p *Planner) Relation(n *pg.RangeVar) (schema.Relation, error) {
	if n.Catalogname != "" && n.Catalogname != p.Env.Database {
		return nil, pgerror.New(pgerror.FeatureNotSupported, `cross-database references are not implemented: "%s.%s.%s"`,
			n.Catalogname, n.Schemaname, n.Relname).At(p.Text, n.Location)
	}
	for _, in := range p.in(n.Schemaname) {
		if r := in.Relation(p.Env, n.Relname); r != nil {
			return r, nil
		}
	}
	shown := n.Relname
	if n.Schemaname != "" {
		shown = n.Schemaname + "." + n.Relname
	}
	return nil, pgerror.New(pgerror.UndefinedTable, `relation "%s" does not exist`, shown).At(p.Text, n.Location)
}
