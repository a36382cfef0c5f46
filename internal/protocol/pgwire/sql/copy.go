package sql

import (
	"errors"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/charset"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Copier is how COPY reaches the client. Its methods are called by the session's goroutine while a
// statement runs.
type Copier interface {
	// CopyOut tells the client that data of this many columns comes; CopyData sends some of it, a
	// row say, and CopyOutEnd tells that it was all.
	CopyOut(columns int, binary bool) error
	CopyData(b []byte) error
	CopyOutEnd() error
	// CopyIn asks the client for data of this many columns. CopyPiece waits for some of it, cut
	// anywhere, valid until the next call; io.EOF at its end. Errors: 57014 when the client gives
	// up, 08P01 when it sends something else.
	CopyIn(columns int, binary bool) error
	CopyPiece() ([]byte, error)
	// CopyLimit is how many bytes of data are gathered for one row at most.
	CopyLimit() int
}

// Guarded is a relation that tells beforehand whether the user has a privilege on it, INSERT say.
type Guarded interface {
	May(privilege string) error
}

// copyStatement plans COPY.
func (p *planner) copyStatement(n *pg.CopyStmt) (*plan, error) {
	if err := p.refuseFiles(n); err != nil {
		return nil, err
	}
	opts, err := p.copyOptions(n.Options, n.IsFrom)
	if err != nil {
		return nil, err
	}
	if n.IsFrom {
		return p.copyFrom(n, opts)
	}
	return p.copyTo(n, opts)
}

const hintFiles = "Anyone can COPY to stdout or from stdin. psql's \\copy command also works for anyone."

// refuseFiles rejects the files and programs of the server: no user has the roles that PostgreSQL
// requires.
func (p *planner) refuseFiles(n *pg.CopyStmt) error {
	var text string
	switch {
	case n.Filename == "" && !n.IsProgram:
		return nil
	case n.IsProgram:
		text = "must be superuser or have privileges of the pg_execute_server_program role to COPY to or from an external program"
	case n.IsFrom:
		text = "must be superuser or have privileges of the pg_read_server_files role to COPY from a file"
	default:
		text = "must be superuser or have privileges of the pg_write_server_files role to COPY to a file"
	}
	return pgerror.New(pgerror.InsufficientPrivilege, "%s", text).WithHint("%s", hintFiles)
}

// copier is the client, but where a function runs the statement: those are PL/pgSQL in PostgreSQL.
func (s *Session) copier() (Copier, error) {
	if s.opts.Copier == nil || s.inner > 0 {
		return nil, pgerror.New(pgerror.FeatureNotSupported, "cannot COPY to/from client in PL/pgSQL")
	}
	return s.opts.Copier, nil
}

// copyRelation finds the relation of a COPY; PostgreSQL says no place when there is none.
func (p *planner) copyRelation(n *pg.CopyStmt) (Relation, error) {
	r, err := p.relation(n.Relation)
	var e *pgerror.Error
	if errors.As(err, &e) {
		e.Position = 0
	}
	return r, err
}

// copyColumns finds the columns of a list, all when it is empty. relation "" is a query.
func copyColumns(fields []value.Field, list []*pg.Node, relation string) ([]int, error) {
	var found []int
	if len(list) == 0 {
		for i := range fields {
			found = append(found, i)
		}
		return found, nil
	}
	for _, name := range names(list) {
		i := columnAt(fields, name)
		switch {
		case i < 0 && relation != "":
			return nil, pgerror.New(pgerror.UndefinedColumn, `column "%s" of relation "%s" does not exist`, name, relation)
		case i < 0:
			return nil, pgerror.New(pgerror.UndefinedColumn, `column "%s" does not exist`, name)
		case slices.Contains(found, i):
			return nil, pgerror.New("42701", `column "%s" specified more than once`, name)
		}
		found = append(found, i)
	}
	return found, nil
}

// forced finds the columns of an option among those that are copied; a nil list has none.
func forced(option string, fields []value.Field, cols []int, list []*pg.Node, relation string) ([]bool, error) {
	if list == nil {
		return make([]bool, len(cols)), nil
	}
	wanted, err := copyColumns(fields, list, relation)
	if err != nil {
		return nil, err
	}
	on := make([]bool, len(cols))
	for _, w := range wanted {
		i := slices.Index(cols, w)
		if i < 0 {
			return nil, pgerror.New("42P10", `%s column "%s" not referenced by COPY`, option, fields[w].Name)
		}
		on[i] = true
	}
	return on, nil
}

// textEncoding is how the client reads and writes texts; nil: UTF-8.
func (s *Session) textEncoding() *charset.Encoding {
	e, _ := charset.ByName(s.clientEncoding()) // the setting takes no other names
	return e
}

// in is the encoding of the data.
func (o *copyOptions) in(s *Session) *charset.Encoding {
	if o.encoded {
		return o.encoding
	}
	return s.textEncoding()
}

// rows gives the rows of a plan, as they are made where it is a query.
func (p *plan) rows(env *expr.Env, row func([]value.Datum) error) error {
	if p.query != nil {
		return p.query.run(env, row)
	}
	out, err := p.command(env)
	if err != nil {
		return err
	}
	for _, r := range out.rows {
		if err := row(r); err != nil {
			return err
		}
	}
	return nil
}
