package calls

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
	"fiveways.dev/fiveways/test/sql/sides"
)

// statement is a text with its parameters as text; null is NULL.
type statement struct {
	text   string
	params []string
}

const null = "\\N"

func (s statement) String() string { return strings.Join(append([]string{s.text}, s.params...), "\t") }

// explains reports whether the statement is EXPLAIN, whose rows are a plan, recorded as the word
// plan.
func (s statement) explains() bool { return strings.HasPrefix(s.text, "explain") }

const plan = "[a plan]"

// outcome is the result of a statement: the number of calls, and its rows or the SQLSTATE of its
// error.
type outcome struct {
	calls int
	rows  string
}

func (o outcome) String() string { return fmt.Sprintf("%d\t%s", o.calls, o.rows) }

// setUp creates in PostgreSQL what counted is here: each call takes a number from the sequence.
const setUp = `
create sequence calls;
create function tick(int) returns int volatile language plpgsql as 'begin perform nextval(''calls''); return $1; end';
create function flag(bool) returns bool volatile language plpgsql as 'begin perform nextval(''calls''); return $1; end';
create function taken() returns setof int volatile language plpgsql rows 2 as
	'begin perform nextval(''calls''); return next 1; return next 2; end';
create view box as select id, 'm' || id as tag from taken() id;
create function swallow() returns trigger language plpgsql as 'begin return new; end';
create trigger swallow instead of insert on box for each row execute function swallow();
set statement_timeout = '10s'`

// theirs runs a statement in PostgreSQL.
func theirs(t *testing.T, c *pgconn.PgConn, s statement) outcome {
	ctx := context.Background()
	before := theirCalls(t, c)
	args := make([][]byte, len(s.params))
	for i, p := range s.params {
		if p != null {
			args[i] = []byte(p)
		}
	}
	r := c.ExecParams(ctx, s.text, args, nil, nil, nil).Read()
	var made outcome
	var e *pgconn.PgError
	if errors.As(r.Err, &e) {
		made.rows = e.Code
	} else if r.Err != nil {
		t.Fatalf("%s: %v", s, r.Err)
	}
	if made.rows == "" && s.explains() {
		made.rows = plan
	}
	if made.rows == "" {
		var rows []string
		for _, row := range r.Rows {
			rows = append(rows, sides.Theirs(row, null))
		}
		made.rows = "[" + strings.Join(rows, " ") + "]"
	}
	made.calls = theirCalls(t, c) - before
	return made
}

func theirCalls(t *testing.T, c *pgconn.PgConn) (n int) {
	r := c.ExecParams(context.Background(), "select case when is_called then last_value else 0 end from calls", nil, nil, nil, nil).Read()
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	if _, err := fmt.Sscan(string(r.Rows[0][0]), &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// counted is a schema whose functions and view count their calls.
type counted struct {
	calls     int
	functions []*expr.Function
}

func newCounted() *counted {
	c := &counted{}
	same := func(_ *expr.Env, args []value.Datum) (value.Datum, error) { c.calls++; return args[0], nil }
	c.functions = []*expr.Function{
		{OID: 90001, Name: "tick", Args: []expr.Arg{{Type: value.Int4}}, Volatility: expr.Volatile, Returns: value.Int4, Call: same},
		{OID: 90002, Name: "flag", Args: []expr.Arg{{Type: value.Bool}}, Volatility: expr.Volatile, Returns: value.Bool, Call: same},
		{OID: 90003, Name: "taken", Volatility: expr.Volatile, Returns: value.Int4,
			Rows: func(*expr.Env, []value.Datum) iter.Seq2[[]value.Datum, error] { return c.taken(false) }},
	}
	return c
}

// taken returns two rows, with or without tags.
func (c *counted) taken(tags bool) iter.Seq2[[]value.Datum, error] {
	return func(yield func([]value.Datum, error) bool) {
		c.calls++
		for id := int64(1); id <= 2; id++ {
			row := []value.Datum{id}
			if tags {
				row = append(row, fmt.Sprintf("m%d", id))
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

func (c *counted) Name() string    { return "public" }
func (c *counted) Version() uint64 { return 0 }

func (c *counted) Functions(_ *expr.Env, name string) []*expr.Function {
	for _, f := range c.functions {
		if f.Name == name {
			return []*expr.Function{f}
		}
	}
	return nil
}

func (c *counted) AllFunctions(*expr.Env) []*expr.Function  { return c.functions }
func (c *counted) AllRelations(*expr.Env) []schema.Relation { return []schema.Relation{box{c}} }
func (c *counted) Type(string) *value.Type                  { return nil }

func (c *counted) Relation(_ *expr.Env, name string) schema.Relation {
	if name == "box" {
		return box{c}
	}
	return nil
}

// box is the view.
type box struct{ c *counted }

func (box) OID() uint32  { return 90010 }
func (box) Name() string { return "box" }
func (box) Kind() byte   { return 'v' }
func (box) Takes()       {}

func (box) Columns() []value.Field {
	return []value.Field{{Name: "id", Type: value.Int4}, {Name: "tag", Type: value.Text}}
}

// Insert accepts a row and drops it.
func (box) Insert(_ *expr.Env, row []value.Datum, _ []bool) ([]value.Datum, error) { return row, nil }

func (b box) Scan(*expr.Env, []bool) iter.Seq2[[]value.Datum, error] { return b.c.taken(true) }

// ours runs a statement here.
func ours(c *counted, s statement) outcome {
	session := sql.NewSession(sides.Options(c))
	defer session.Close()
	before := c.calls
	rows, err := run(session, s)
	made := outcome{calls: c.calls - before, rows: "[" + strings.Join(rows, " ") + "]"}
	var e *pgerror.Error
	if errors.As(err, &e) {
		made.rows = e.Code
	} else if err != nil {
		made.rows = err.Error()
	} else if s.explains() {
		made.rows = plan
	}
	return made
}

func run(session *sql.Session, s statement) (rows []string, err error) {
	p, err := session.Prepare(s.text, nil)
	if err != nil {
		return nil, err
	}
	set := session.Settings()
	args := make([]value.Datum, len(s.params))
	for i, text := range s.params {
		if text == null {
			continue
		}
		if args[i], err = value.Parse(p.Params[i], text, &set); err != nil {
			return nil, err
		}
	}
	o, err := session.Open(p, args)
	if err != nil {
		return nil, err
	}
	_, _, err = session.Fetch(context.Background(), o, 0, func(row []value.Datum) error {
		rows = append(rows, sides.Ours(o.Columns, row, &set, null))
		return nil
	})
	return rows, err
}
