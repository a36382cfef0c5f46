package sql

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// fakeWork records its calls.
type fakeWork struct {
	log  []string
	mark int
	fail error // of the next Commit
}

func (w *fakeWork) note(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf(format, args...))
}

func (w *fakeWork) Begin(readOnly bool) {
	if readOnly {
		w.note("begin read only")
		return
	}
	w.note("begin")
}

func (w *fakeWork) Commit(context.Context) error {
	err := w.fail
	w.fail = nil
	w.note("commit")
	return err
}

func (w *fakeWork) Rollback() { w.note("rollback") }

func (w *fakeWork) Savepoint() int {
	w.mark++
	w.note("savepoint %d", w.mark)
	return w.mark
}

func (w *fakeWork) RollbackTo(mark int) { w.note("rollback to %d", mark) }
func (w *fakeWork) Close()              { w.note("close") }

// fakeSchema has a table of people, an insertable view, and functions that count their calls.
type fakeSchema struct {
	name      string
	version   uint64
	calls     map[string]int
	functions []*expr.Function
	relations []schema.Relation
}

func (f *fakeSchema) Name() string    { return f.name }
func (f *fakeSchema) Version() uint64 { return f.version }

func (f *fakeSchema) Functions(_ *expr.Env, name string) []*expr.Function {
	var found []*expr.Function
	for _, fn := range f.functions {
		if fn.Name == name {
			found = append(found, fn)
		}
	}
	return found
}

func (f *fakeSchema) AllFunctions(*expr.Env) []*expr.Function { return f.functions }

func (f *fakeSchema) Relation(_ *expr.Env, name string) schema.Relation {
	for _, r := range f.relations {
		if r.Name() == name {
			return r
		}
	}
	return nil
}

func (f *fakeSchema) AllRelations(*expr.Env) []schema.Relation { return f.relations }

func (f *fakeSchema) Type(name string) *value.Type {
	if name == value.SemaphoreStatus.Name {
		return value.SemaphoreStatus
	}
	return nil
}

// fakeTable is a relation with rows.
type fakeTable struct {
	name    string
	cols    []value.Field
	rows    [][]value.Datum
	granted []string
}

func (t *fakeTable) OID() uint32            { return 1 }
func (t *fakeTable) Name() string           { return t.name }
func (t *fakeTable) Kind() byte             { return 'r' }
func (t *fakeTable) Columns() []value.Field { return t.cols }

func (t *fakeTable) Scan(_ *expr.Env, want []bool) iter.Seq2[[]value.Datum, error] {
	return func(yield func([]value.Datum, error) bool) {
		row := make([]value.Datum, len(t.cols)) // reused: a row is valid until the next one
		for _, r := range t.rows {
			for i := range row {
				if row[i] = nil; want[i] {
					row[i] = r[i]
				}
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// fakeView is a relation that supports INSERT.
type fakeView struct{ fakeTable }

func (t *fakeView) Insert(_ *expr.Env, row []value.Datum, set []bool) ([]value.Datum, error) {
	stored := append([]value.Datum(nil), row...)
	if !set[0] {
		stored[0] = int64(len(t.rows) + 1)
	}
	t.rows = append(t.rows, stored)
	return stored, nil
}

func (t *fakeView) Update(_ *expr.Env, row, changed []value.Datum) error {
	for _, r := range t.rows {
		if r[0] == row[0] {
			copy(r, changed)
		}
	}
	return nil
}

func (t *fakeView) Grant(_ *expr.Env, right string, users []string) error {
	t.granted = append(t.granted, "+"+right+" "+strings.Join(users, ","))
	return nil
}

func (t *fakeView) Revoke(_ *expr.Env, right string, users []string) error {
	t.granted = append(t.granted, "-"+right+" "+strings.Join(users, ","))
	return nil
}

// pairType is a composite type like the records of queues.
var pairType = &value.Type{
	OID: 99990, Name: "pair", Schema: "fake", Kind: 'c', Category: 'C',
	Fields: []value.Field{{Name: "n", Type: value.Int4}, {Name: "word", Type: value.Text}},
}

func newFakeSchema() *fakeSchema {
	f := &fakeSchema{name: "fake", calls: map[string]int{}}
	person := []value.Field{{Name: "id", Type: value.Int4}, {Name: "name", Type: value.Text}, {Name: "age", Type: value.Int4}}
	f.relations = []schema.Relation{
		&fakeTable{name: "people", cols: person, rows: [][]value.Datum{
			{int64(1), "ann", int64(30)}, {int64(2), "bob", int64(25)}, {int64(3), "cid", nil}, {int64(4), "dan", int64(25)},
		}},
		&fakeTable{name: "pets", cols: []value.Field{{Name: "owner", Type: value.Int4}, {Name: "name", Type: value.Text}}, rows: [][]value.Datum{
			{int64(1), "rex"}, {int64(1), "tom"}, {int64(4), "kit"}, {int64(9), "lux"},
		}},
		&fakeView{fakeTable{name: "box", cols: []value.Field{{Name: "id", Type: value.Int4}, {Name: "data", Type: value.Text}}}},
		newFakeShelf(f.calls),
		&fakeRiddle{fakeTable{name: "riddle", cols: []value.Field{{Name: "q", Type: value.Text}}}},
	}
	count := func(name string) int64 { f.calls[name]++; return int64(f.calls[name]) }
	f.functions = []*expr.Function{
		{Schema: "fake", Name: "tick", Volatility: expr.Volatile, Returns: value.Int4,
			Call: func(*expr.Env, []value.Datum) (value.Datum, error) { return count("tick"), nil }},
		{Schema: "fake", Name: "post", Volatility: expr.Volatile, Returns: value.Text,
			Args: []expr.Arg{{Name: "qname", Type: value.Text}, {Name: "data", Type: value.Text, HasDefault: true}},
			Call: func(_ *expr.Env, args []value.Datum) (value.Datum, error) {
				return fmt.Sprintf("%s.%d", args[0], count("post")), nil
			}},
		{Schema: "fake", Name: "fails", Volatility: expr.Volatile, Returns: value.Int4,
			Call: func(*expr.Env, []value.Datum) (value.Datum, error) {
				return nil, pgerror.New(pgerror.RaiseException, "it fails")
			}},
		{Schema: "fake", Name: "waits", Volatility: expr.Volatile, Returns: value.Int4,
			Call: func(env *expr.Env, _ []value.Datum) (value.Datum, error) {
				<-env.Ctx.Done()
				return nil, env.Ctx.Err()
			}},
		{Schema: "fake", Name: "pairs", Volatility: expr.Volatile, Returns: pairType, Args: []expr.Arg{{Name: "many", Type: value.Int4}},
			Rows: func(_ *expr.Env, args []value.Datum) iter.Seq2[[]value.Datum, error] {
				return func(yield func([]value.Datum, error) bool) {
					for i := int64(1); i <= args[0].(int64); i++ {
						count("pairs")
						if !yield([]value.Datum{i, strings.Repeat("x", int(i))}, nil) {
							return
						}
					}
				}
			}},
		{Schema: "fake", Name: "pair", Volatility: expr.Volatile, Returns: pairType,
			Call: func(*expr.Env, []value.Datum) (value.Datum, error) {
				return value.Record{count("pair"), "one"}, nil
			}},
		{Schema: "fake", Name: "notices", Volatility: expr.Volatile, Returns: value.Int4,
			Call: func(env *expr.Env, _ []value.Datum) (value.Datum, error) {
				env.Notice(pgerror.Notice("look"))
				return int64(1), nil
			}},
	}
	return f
}

// client drives a session like the simple protocol and records the results.
type client struct {
	s    *Session
	work *fakeWork
	fake *fakeSchema
	out  strings.Builder
}

func newClient(superuser bool) *client {
	c := &client{work: &fakeWork{}, fake: newFakeSchema()}
	c.fake.functions = append(c.fake.functions, solve(c.work))
	c.s = NewSession(Options{
		User: "ann", Database: "fiveways", Superuser: superuser, Schemas: []schema.Schema{c.fake}, Work: c.work, BackendPID: 7,
		Notice: func(e *pgerror.Error) { fmt.Fprintf(&c.out, "%s: %s %s\n", e.Severity, e.Code, e.Message) },
		Parameter: func(name, value string) {
			fmt.Fprintf(&c.out, "parameter %s = %s\n", name, value)
		},
	})
	return c
}

func (c *client) fail(err error) {
	var e *pgerror.Error
	if !errors.As(err, &e) {
		fmt.Fprintf(&c.out, "ERROR: %v\n", err)
		return
	}
	fmt.Fprintf(&c.out, "ERROR: %s %s", e.Code, e.Message)
	if e.Position > 0 {
		fmt.Fprintf(&c.out, " (at %d)", e.Position)
	}
	c.out.WriteString("\n")
	for _, more := range []struct{ name, text string }{{"DETAIL", e.Detail}, {"HINT", e.Hint}} {
		if more.text != "" {
			fmt.Fprintf(&c.out, "%s: %s\n", more.name, more.text)
		}
	}
}

// query executes one message of the simple protocol.
func (c *client) query(text string) {
	all, err := c.s.Split(text)
	if err != nil {
		c.fail(err)
		return
	}
	for _, p := range all {
		if err := c.run(p); err != nil {
			c.fail(err)
			return
		}
	}
	if err := c.s.Sync(context.Background()); err != nil {
		c.fail(err)
	}
}

func (c *client) run(p *Prepared) error {
	portal, err := c.s.Open(p, nil)
	if err != nil {
		return err
	}
	c.header(portal.Columns)
	_, tag, err := c.s.Fetch(context.Background(), portal, 0, c.row(portal.Columns))
	if err == nil {
		fmt.Fprintf(&c.out, "%s\n", tag)
	}
	return err
}

func (c *client) header(cols []value.Field) {
	if cols == nil {
		return
	}
	var names []string
	for _, f := range cols {
		names = append(names, f.Name+" "+f.Type.String())
	}
	fmt.Fprintf(&c.out, "%s\n", strings.Join(names, " | "))
}

func (c *client) row(cols []value.Field) func([]value.Datum) error {
	return func(row []value.Datum) error {
		var vals []string
		set := c.s.Settings()
		for i, d := range row {
			if d == nil {
				vals = append(vals, "NULL")
				continue
			}
			vals = append(vals, value.String(cols[i].Type, d, &set))
		}
		fmt.Fprintf(&c.out, "%s\n", strings.Join(vals, " | "))
		return nil
	}
}

// take returns the recorded output and clears it.
func (c *client) take() string {
	out := c.out.String()
	c.out.Reset()
	return out
}
