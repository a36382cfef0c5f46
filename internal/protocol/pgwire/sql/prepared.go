package sql

import (
	"context"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/parse"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Prepared is a parsed and planned statement.
type Prepared struct {
	Text    string // the text of its message; error positions refer to it
	Params  []*value.Type
	Columns []value.Field // nil: it returns no rows

	stmt    *pg.Node // nil: an empty query
	source  string   // its own part of Text
	given   []*value.Type
	plan    *plan
	version uint64 // of the state that the plan depends on
	simple  simpleKind
	sql     bool // made by PREPARE
	made    temporal.TimestampTZ
}

// simpleKind is the position of a statement in a simple query.
type simpleKind byte

const (
	notSimple  simpleKind = iota
	simpleOnly            // the only statement
	simplePart            // one of several, more follow
	simpleLast            // the last of several
)

// Split parses the text of a simple query into its statements. The caller opens and fetches them
// one by one, then calls Sync. The result is empty for an empty query. A syntax error anywhere
// makes the whole query fail. Statements are planned when they are opened, so their columns are
// those of the portal.
func (s *Session) Split(text string) ([]*Prepared, error) {
	tree, err := parse.Parse(text)
	if err != nil {
		return nil, s.failed(context.Background(), err)
	}
	all := make([]*Prepared, len(tree.Stmts))
	for i, raw := range tree.Stmts {
		kind := simplePart
		switch {
		case len(tree.Stmts) == 1:
			kind = simpleOnly
		case i == len(tree.Stmts)-1:
			kind = simpleLast
		}
		all[i] = &Prepared{Text: text, stmt: raw.Stmt, source: sourceOf(text, raw), simple: kind}
	}
	return all, nil
}

// sourceOf returns the part of a text that is one statement.
func sourceOf(text string, raw *pg.RawStmt) string {
	from, to := int(raw.StmtLocation), len(text)
	if raw.StmtLen > 0 {
		to = from + int(raw.StmtLen)
	}
	if from > to || to > len(text) {
		return text
	}
	return text[from:to]
}

// Prepare plans one statement of the extended protocol. oids are the types of the first parameters,
// 0 for unknown.
func (s *Session) Prepare(text string, oids []uint32) (*Prepared, error) {
	p, err := s.prepare(text, oids)
	if err != nil {
		return nil, s.failed(context.Background(), err)
	}
	return p, nil
}

func (s *Session) prepare(text string, oids []uint32) (*Prepared, error) {
	tree, err := parse.Parse(text)
	if err != nil {
		return nil, err
	}
	p := &Prepared{Text: text, source: text, given: make([]*value.Type, len(oids))}
	for i, oid := range oids {
		if p.given[i], err = s.paramType(oid); err != nil {
			return nil, err
		}
	}
	switch len(tree.Stmts) {
	case 0:
		p.Params = p.given
		return p, nil
	case 1:
		p.stmt = tree.Stmts[0].Stmt
	default:
		return nil, pgerror.New(pgerror.SyntaxError, "cannot insert multiple commands into a prepared statement")
	}
	if s.tx.state == txFailed && !endsBlock(p.stmt) {
		return nil, Aborted()
	}
	s.start()
	p.made = clock()
	return p, s.replan(p)
}

// paramType returns the type that a client specified for a parameter, or nil if the server must
// infer it.
func (s *Session) paramType(oid uint32) (*value.Type, error) {
	if oid == 0 || oid == value.Unknown.OID {
		return nil, nil
	}
	if t := value.ByOID(oid); t != nil {
		return t, nil
	}
	if name := expr.TypeName(oid); name != "" {
		return nil, pgerror.Unsupported("type " + name)
	}
	return nil, pgerror.New(pgerror.UndefinedObject, "type with OID %d does not exist", oid)
}

// version returns a number that changes whenever a plan may have become invalid.
func (s *Session) version() uint64 {
	sum := s.vars.Epoch()
	for _, schema := range s.opts.Schemas {
		sum += schema.Version()
	}
	return sum
}

// replan plans a statement unless its plan is still valid. It returns an error if the result
// columns would change. A FETCH is an exception: it returns the columns of the current cursor,
// while its description stays that of the cursor that existed when it was prepared, if any.
func (s *Session) replan(p *Prepared) error {
	if p.stmt == nil {
		return nil
	}
	version, fetches := s.version(), p.stmt.GetFetchStmt() != nil
	if p.plan != nil && p.version == version && !fetches {
		return nil
	}
	given := p.given
	if p.plan != nil {
		given = p.Params
	}
	made, params, err := s.planStatement(p, given)
	if err != nil {
		return err
	}
	if p.plan == nil || !fetches {
		if p.plan != nil && p.simple == notSimple && !sameColumns(p.Columns, made.columns) {
			// asyncpg, pgjdbc and postgres.js prepare the statement again.
			return pgerror.New(pgerror.FeatureNotSupported, "cached plan must not change result type").From("RevalidateCachedQuery")
		}
		p.Columns = made.columns
	}
	p.plan, p.version, p.Params = made, version, params
	return nil
}

func sameColumns(a, b []value.Field) bool {
	if len(a) != len(b) || (a == nil) != (b == nil) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name || a[i].Type.OID != b[i].Type.OID {
			return false
		}
	}
	return true
}

// endsBlock reports whether a failed transaction accepts the statement.
func endsBlock(n *pg.Node) bool {
	t := n.GetTransactionStmt()
	if t == nil {
		return n == nil
	}
	switch t.Kind {
	case pg.TransactionStmtKind_TRANS_STMT_COMMIT, pg.TransactionStmtKind_TRANS_STMT_ROLLBACK,
		pg.TransactionStmtKind_TRANS_STMT_ROLLBACK_TO, pg.TransactionStmtKind_TRANS_STMT_PREPARE:
		return true
	}
	return false
}
