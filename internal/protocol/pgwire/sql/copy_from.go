package sql

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/copytext"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/query"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// copyInto is COPY FROM STDIN. Rows are inserted as by INSERT.
type copyInto struct {
	*copyOptions
	name    string          // of the relation
	into    schema.Inserter // nil: the relation is not insertable
	fields  []value.Field
	cols    []int            // the columns in the data
	set     []bool           // by field: in cols
	notNull []bool           // by cols: the NULL text is an ordinary text
	null    []bool           // by cols: the NULL text stands for NULL in quotes, too
	where   *query.Condition // nil: all rows
}

func (p *planner) copyFrom(n *pg.CopyStmt, o *copyOptions) (*plan, error) {
	r, err := p.copyRelation(n)
	if err != nil {
		return nil, err
	}
	c := &copyInto{copyOptions: o, name: r.Name(), fields: r.Columns()}
	if err := c.columns(n); err != nil {
		return nil, err
	}
	c.into, _ = r.(schema.Inserter)
	if c.into == nil && r.Kind() != 'v' {
		return nil, pgerror.New(pgerror.InsufficientPrivilege, "permission denied for table %s", c.name)
	}
	if n.WhereClause != nil {
		if c.where, err = p.CopyCondition(n, c.fields); err != nil {
			return nil, err
		}
	}
	s := p.s
	return &plan{writes: "COPY FROM", command: func(env *expr.Env) (query.Result, error) {
		count, err := c.run(s, env)
		return query.Result{Tag: query.CountTag("COPY ", count)}, err
	}}, nil
}

func (c *copyInto) columns(n *pg.CopyStmt) (err error) {
	if c.cols, err = copyColumns(c.fields, n.Attlist, c.name); err != nil {
		return err
	}
	c.set = make([]bool, len(c.fields))
	for _, i := range c.cols {
		c.set[i] = true
	}
	if c.notNull, err = forced("FORCE_NOT_NULL", c.fields, c.cols, c.copyOptions.notNull, c.name); err != nil {
		return err
	}
	c.null, err = forced("FORCE_NULL", c.fields, c.cols, c.copyOptions.null, c.name)
	return err
}

// copyRows reads the rows of a COPY. next returns the values of the columns, or nil at the end. The
// result is valid until the next call.
type copyRows interface {
	next(env *expr.Env) ([]value.Datum, error)
	// place describes the current position, for the context of an error.
	place() string
}

func (c *copyInto) run(s *Session, env *expr.Env) (count int, err error) {
	if g, ok := c.into.(schema.Guarded); ok {
		if err := g.May("INSERT"); err != nil {
			return 0, err
		}
	}
	from, err := s.copier()
	if err != nil {
		return 0, err
	}
	if err := from.CopyIn(len(c.cols), c.binary); err != nil {
		return 0, err
	}
	switch {
	case c.into == nil:
		return 0, pgerror.New(pgerror.WrongObjectType, `cannot copy to view "%s"`, c.name).
			WithHint("To enable copying to a view, provide an INSTEAD OF INSERT trigger.")
	case c.freeze:
		return 0, pgerror.New("55000", "cannot perform COPY FREEZE because the table was not created or truncated in the current subtransaction")
	}
	var rows copyRows
	if c.binary {
		if rows, err = c.binaryRows(s, from); err != nil {
			return 0, err
		}
	} else {
		rows = c.textRows(s, from)
	}
	for {
		stored, done, err := c.row(env, rows)
		if err != nil {
			return 0, c.located(err, rows.place())
		}
		if done {
			return count, nil
		}
		if stored {
			count++
		}
	}
}

// row handles one row. stored is false if WHERE rejects it, and done is true at the end.
func (c *copyInto) row(env *expr.Env, rows copyRows) (stored, done bool, err error) {
	if err := env.Ctx.Err(); err != nil {
		return false, false, err
	}
	vals, err := rows.next(env)
	if vals == nil || err != nil {
		return false, true, err
	}
	row := make([]value.Datum, len(c.fields))
	for i, at := range c.cols {
		row[at] = vals[i]
	}
	if c.where != nil {
		if ok, err := c.where.Holds(env, row); err != nil || !ok {
			return false, false, err
		}
	}
	_, err = c.into.Insert(env, row, c.set)
	return true, false, err
}

// located adds the position in the data to an error.
func (c *copyInto) located(err error, place string) error {
	var known *pgerror.Error
	if !errors.As(err, &known) {
		return err
	}
	made := *known
	if made.Context != "" {
		made.Context += "\n"
	}
	made.Context += "COPY " + c.name + place
	return &made
}

// shownBytes is the maximum length of a line or a value in the context of an error.
const shownBytes = 100

func shown(s string) string {
	if len(s) <= shownBytes {
		return `"` + s + `"`
	}
	cut := shownBytes
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return `"` + s[:cut] + `..."`
}

// textRows reads rows in text or CSV format.
type textRows struct {
	*copyInto
	lines  copytext.Lines
	source *copyInput
	line   string
	whole  bool // line is complete
	fields []copytext.Field
	vals   []value.Datum
	column int // of cols, the one whose value is being read; -1: none
}

func (c *copyInto) textRows(s *Session, from Copier) *textRows {
	t := &textRows{copyInto: c, source: &copyInput{from: from, encoding: c.in(s), limit: from.CopyLimit()}, column: -1}
	t.lines = copytext.Lines{Format: &c.text, Limit: t.source.limit}
	t.vals = make([]value.Datum, len(c.cols))
	return t
}

func (t *textRows) next(env *expr.Env) ([]value.Datum, error) {
	if t.header && t.lines.Number == 0 {
		there, err := t.readLine()
		if err == nil && t.match {
			err = t.matchHeader()
		}
		if err != nil || !there {
			return nil, err
		}
	}
	if there, err := t.readLine(); err != nil || !there {
		return nil, err
	}
	var err error
	if t.fields, err = t.text.Fields(t.fields[:0], t.line); err != nil {
		return nil, err
	}
	if len(t.fields) > len(t.cols) {
		return nil, pgerror.New(copytext.BadFormat, "extra data after last expected column")
	}
	for i, at := range t.cols {
		if i >= len(t.fields) {
			t.column = -1
			return nil, pgerror.New(copytext.BadFormat, `missing data for column "%s"`, t.copyInto.fields[at].Name)
		}
		t.column = i
		if t.vals[i], err = t.value(env, i); err != nil {
			return nil, err
		}
	}
	t.column = -1
	return t.vals, nil
}

// value parses the value of a column.
func (t *textRows) value(env *expr.Env, i int) (value.Datum, error) {
	f := &t.fields[i]
	switch {
	case f.Null && t.copyInto.notNull[i]:
		f.Null = false
	case !f.Null && t.copyInto.null[i] && f.Text == t.text.Null:
		f.Null = true
	}
	if f.Null {
		return nil, nil
	}
	return value.Parse(t.copyInto.fields[t.cols[i]].Type, f.Text, &env.Settings)
}

// readLine reads the next line. It returns false if there is none.
func (t *textRows) readLine() (bool, error) {
	for t.whole = false; ; {
		line, ok, err := t.lines.Next()
		switch {
		case err != nil:
			return false, err
		case t.lines.Ended():
			t.line, t.whole = line, true
			return ok, t.source.drain() // data after the end is ignored
		case ok:
			t.line, t.whole = line, true
			return true, nil
		}
		piece, err := t.source.piece()
		switch {
		case err == io.EOF:
			t.lines.End()
		case err != nil:
			return false, err
		default:
			t.lines.Feed(piece)
		}
	}
}

// matchHeader checks the header against the column names.
func (t *textRows) matchHeader() (err error) {
	if t.fields, err = t.text.Fields(t.fields[:0], t.line); err != nil {
		return err
	}
	if len(t.fields) != len(t.cols) {
		return pgerror.New(copytext.BadFormat, "wrong number of fields in header line: got %d, expected %d", len(t.fields), len(t.cols))
	}
	for i, f := range t.fields {
		switch want := t.copyInto.fields[t.cols[i]].Name; {
		case f.Null:
			return pgerror.New(copytext.BadFormat, `column name mismatch in header line field %d: got null value ("%s"), expected "%s"`, i+1, t.text.Null, want)
		case f.Text != want:
			return pgerror.New(copytext.BadFormat, `column name mismatch in header line field %d: got "%s", expected "%s"`, i+1, f.Text, want)
		}
	}
	return nil
}

func (t *textRows) place() string {
	var b strings.Builder
	b.WriteString(", line " + strconv.Itoa(t.lines.Number))
	switch {
	case t.column >= 0:
		b.WriteString(", column " + t.copyInto.fields[t.cols[t.column]].Name)
		if f := t.fields[t.column]; f.Null {
			b.WriteString(": null input")
		} else {
			b.WriteString(": " + shown(f.Text))
		}
	case t.whole:
		b.WriteString(": " + shown(t.line))
	}
	return b.String()
}
