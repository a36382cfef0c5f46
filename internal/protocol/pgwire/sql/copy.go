package sql

import (
	"errors"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/charset"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/tree"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Copier transfers the data of COPY to and from the client. Its methods are called by the session's
// goroutine while a statement runs.
type Copier interface {
	// CopyOut announces data with this many columns. CopyData sends a piece, such as a row, and
	// CopyOutEnd ends the data.
	CopyOut(columns int, binary bool) error
	CopyData(b []byte) error
	CopyOutEnd() error
	// CopyIn asks the client for data with this many columns. CopyPiece waits for a piece, which
	// may begin and end anywhere and is valid until the next call. It returns io.EOF at the end.
	// Errors: 57014 if the client cancels, 08P01 for an unexpected message.
	CopyIn(columns int, binary bool) error
	CopyPiece() ([]byte, error)
	// CopyLimit returns the maximum number of bytes to buffer for one row.
	CopyLimit() int
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

// refuseFiles rejects server-side files and programs, because no user has the roles that PostgreSQL
// requires for them.
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

// copier returns the client, or an error for a statement run by a function, which would be PL/pgSQL
// in PostgreSQL.
func (s *Session) copier() (Copier, error) {
	if s.opts.Copier == nil || s.inner > 0 {
		return nil, pgerror.New(pgerror.FeatureNotSupported, "cannot COPY to/from client in PL/pgSQL")
	}
	return s.opts.Copier, nil
}

// copyRelation returns the relation of a COPY. As in PostgreSQL, an error for a missing relation
// has no position.
func (p *planner) copyRelation(n *pg.CopyStmt) (schema.Relation, error) {
	r, err := p.Relation(n.Relation)
	var e *pgerror.Error
	if errors.As(err, &e) {
		e.Position = 0
	}
	return r, err
}

// copyColumns returns the indexes of the listed columns, or of all columns if the list is empty.
// relation is "" for a query.
func copyColumns(fields []value.Field, list []*pg.Node, relation string) ([]int, error) {
	var found []int
	if len(list) == 0 {
		for i := range fields {
			found = append(found, i)
		}
		return found, nil
	}
	for _, name := range tree.Names(list) {
		i := schema.Column(fields, name)
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

// forced returns which of the copied columns are in the column list of an option. A nil list
// selects none.
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

// textEncoding returns the client encoding of texts; nil: UTF-8.
func (s *Session) textEncoding() *charset.Encoding {
	e, _ := charset.ByName(s.clientEncoding()) // the setting accepts no other names
	return e
}

// in returns the encoding of the data.
func (o *copyOptions) in(s *Session) *charset.Encoding {
	if o.encoded {
		return o.encoding
	}
	return s.textEncoding()
}

// rows passes the rows of a plan to row. A query is streamed.
func (p *plan) rows(env *expr.Env, row func([]value.Datum) error) error {
	if p.query != nil {
		return p.query.Run(env, row)
	}
	out, err := p.command(env)
	if err != nil {
		return err
	}
	for _, r := range out.Rows {
		if err := row(r); err != nil {
			return err
		}
	}
	return nil
}
