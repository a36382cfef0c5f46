package sql

import (
	"encoding/binary"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/charset"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/query"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// copySignature begins data in binary format.
const copySignature = "PGCOPY\n\xff\r\n\x00"

// copyTo plans COPY TO STDOUT.
func (p *planner) copyTo(n *pg.CopyStmt, o *copyOptions) (*plan, error) {
	source, quote, err := p.copySource(n, o)
	if err != nil {
		return nil, err
	}
	s := p.s
	return &plan{writes: source.writes, command: func(env *expr.Env) (query.Result, error) {
		to, err := s.copier()
		if err != nil {
			return query.Result{}, err
		}
		w := &copyWriter{copyOptions: o, to: to, columns: source.columns, quote: quote, settings: &env.Settings, encoding: o.in(s)}
		if o.binary {
			w.encoding = s.textEncoding()
		}
		if err = w.begin(); err == nil {
			err = source.rows(env, w.row)
		}
		if err == nil {
			err = w.end()
		}
		return query.Result{Tag: query.CountTag("COPY ", w.count)}, err
	}}, nil
}

// copySource plans the source, a query or a table, and returns which columns to quote.
func (p *planner) copySource(n *pg.CopyStmt, o *copyOptions) (made *plan, quote []bool, err error) {
	if n.Relation == nil {
		if made, err = p.copyQuery(n.Query); err != nil {
			return nil, nil, err
		}
		all, err := copyColumns(made.columns, nil, "")
		if err != nil {
			return nil, nil, err
		}
		quote, err = forced("FORCE_QUOTE", made.columns, all, o.quote, "")
		return made, quote, err
	}
	r, err := p.copyRelation(n)
	if err != nil {
		return nil, nil, err
	}
	if r.Kind() == 'v' {
		return nil, nil, pgerror.New(pgerror.WrongObjectType, `cannot copy from view "%s"`, r.Name()).
			WithHint("Try the COPY (SELECT ...) TO variant.")
	}
	cols, err := copyColumns(r.Columns(), n.Attlist, r.Name())
	if err != nil {
		return nil, nil, err
	}
	if quote, err = forced("FORCE_QUOTE", r.Columns(), cols, o.quote, r.Name()); err != nil {
		return nil, nil, err
	}
	made, err = p.copyTable(n.Relation, r, cols)
	return made, quote, err
}

// copyQuery plans a query, or a command with RETURNING.
func (p *planner) copyQuery(n *pg.Node) (*plan, error) {
	changes := n.GetInsertStmt() != nil || n.GetUpdateStmt() != nil || n.GetDeleteStmt() != nil
	returns := len(n.GetInsertStmt().GetReturningList())+len(n.GetUpdateStmt().GetReturningList())+len(n.GetDeleteStmt().GetReturningList()) > 0
	switch {
	case changes && !returns:
		return nil, pgerror.New(pgerror.FeatureNotSupported, "COPY query must have a RETURNING clause")
	case n.GetSelectStmt().GetIntoClause() != nil:
		return nil, pgerror.Unsupported("COPY (SELECT INTO)")
	}
	return p.statement(n, &Prepared{Text: p.Text, stmt: n})
}

// copyTable plans a query for the rows of a table.
func (p *planner) copyTable(from *pg.RangeVar, r schema.Relation, cols []int) (*plan, error) {
	sel := &pg.SelectStmt{FromClause: []*pg.Node{{Node: &pg.Node_RangeVar{RangeVar: from}}}, Op: pg.SetOperation_SETOP_NONE}
	for _, i := range cols {
		ref := &pg.ColumnRef{Fields: []*pg.Node{pg.MakeStrNode(r.Columns()[i].Name)}, Location: -1}
		target := &pg.ResTarget{Val: &pg.Node{Node: &pg.Node_ColumnRef{ColumnRef: ref}}, Location: -1}
		sel.TargetList = append(sel.TargetList, &pg.Node{Node: &pg.Node_ResTarget{ResTarget: target}})
	}
	return p.queryPlan(sel)
}

// copyWriter sends rows to the client.
type copyWriter struct {
	*copyOptions
	to       Copier
	columns  []value.Field
	quote    []bool
	settings *value.Settings
	encoding *charset.Encoding // of the client's texts; nil: UTF-8
	count    int
	buf      []byte
}

// begin announces the data and sends the header.
func (w *copyWriter) begin() error {
	if err := w.to.CopyOut(len(w.columns), w.binary); err != nil {
		return err
	}
	switch {
	case w.binary:
		w.buf = append(w.buf, copySignature...)
		w.buf = binary.BigEndian.AppendUint64(w.buf, 0) // flags, and the length of the header extension
	case w.header:
		for i, c := range w.columns {
			w.separate(i)
			w.buf = w.text.Append(w.buf, c.Name, false, len(w.columns) == 1)
		}
		return w.line()
	}
	return nil
}

func (w *copyWriter) row(row []value.Datum) error {
	w.count++
	if w.binary {
		return w.binaryRow(row)
	}
	for i, d := range row {
		w.separate(i)
		if d == nil {
			w.buf = w.text.AppendNull(w.buf)
			continue
		}
		text := value.String(w.columns[i].Type, d, w.settings)
		w.buf = w.text.Append(w.buf, text, w.quote[i] || w.quoteAll, len(row) == 1)
	}
	return w.line()
}

func (w *copyWriter) separate(i int) {
	if i > 0 {
		w.buf = append(w.buf, w.text.Delimiter)
	}
}

// line sends the buffered line.
func (w *copyWriter) line() (err error) {
	w.buf = append(w.buf, '\n')
	if w.encoding != nil {
		text := string(w.buf)
		if w.buf, err = w.encoding.Append(w.buf[:0], text); err != nil {
			return err
		}
	}
	return w.send()
}

func (w *copyWriter) send() error {
	err := w.to.CopyData(w.buf)
	w.buf = w.buf[:0]
	return err
}

func (w *copyWriter) binaryRow(row []value.Datum) (err error) {
	w.buf = binary.BigEndian.AppendUint16(w.buf, uint16(len(row)))
	for i, d := range row {
		at := len(w.buf)
		w.buf = append(w.buf, 0xff, 0xff, 0xff, 0xff) // NULL
		if d == nil {
			continue
		}
		t := w.columns[i].Type
		if w.buf, err = value.AppendBinary(w.buf, t, d); err != nil {
			return err
		}
		if w.encoding != nil {
			made, err := value.RecodeBinary(t, w.buf[at+4:], func(b []byte) ([]byte, error) { return w.encoding.Append(nil, string(b)) })
			if err != nil {
				return err
			}
			w.buf = append(w.buf[:at+4], made...)
		}
		binary.BigEndian.PutUint32(w.buf[at:], uint32(len(w.buf)-at-4))
	}
	return w.send()
}

func (w *copyWriter) end() error {
	if w.binary {
		w.buf = append(w.buf, 0xff, 0xff) // the trailer
		if err := w.send(); err != nil {
			return err
		}
	}
	return w.to.CopyOutEnd()
}
