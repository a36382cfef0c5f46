package copy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
	"fiveways.dev/fiveways/test/sql/sides"
)

// setUp creates in PostgreSQL what shelf is here: a view that accepts rows, one that does not, and
// a table.
const setUp = `
create table store (no serial, id int, name text, at timestamptz);
create view t as select id, name, at from store;
create function keep() returns trigger language plpgsql as $$ begin
	if new.name = 'refuse' then raise 'refused'; end if;
	insert into store (id, name, at) values (new.id, new.name, new.at); return new;
end $$;
create trigger keep instead of insert on t for each row execute function keep();
create view bare as select 1 as id;
create table tab (id int, name text);
insert into tab values (1, 'one'), (2, 'two'), (null, null);
set timezone = 'UTC';
create role worker;
grant all on all tables in schema public to worker;
grant all on all sequences in schema public to worker;
create view guarded as select * from t;
set role worker`

const readBack = "select coalesce(string_agg(coalesce(id::text, 'null') || '|' || coalesce(quote_literal(name), 'null') || '|' || coalesce(at::text, 'null'), ' ' order by no), '') from store"

// theirs runs a trial in PostgreSQL and leaves nothing behind.
func theirs(t *testing.T, h *pgconn.HijackedConn, c trial) string {
	f := h.Frontend
	ask := func(text string, data *trial) (out []string) {
		f.Send(&pgproto3.Query{String: text})
		var copied []byte
		for {
			if err := f.Flush(); err != nil {
				t.Fatal(err)
			}
			m, err := f.Receive()
			if err != nil {
				t.Fatalf("%s: %v", c, err)
			}
			switch m := m.(type) {
			case *pgproto3.CopyOutResponse:
				out = append(out, begun("out", len(m.ColumnFormatCodes), m.OverallFormat == 1))
			case *pgproto3.CopyData:
				copied = append(copied, m.Data...)
			case *pgproto3.CopyDone:
				out = append(out, fmt.Sprintf("%q", copied))
			case *pgproto3.CopyInResponse:
				out = append(out, begun("in", len(m.ColumnFormatCodes), m.OverallFormat == 1))
				for _, p := range data.in {
					f.Send(&pgproto3.CopyData{Data: []byte(p)})
				}
				if data.fails {
					f.Send(&pgproto3.CopyFail{Message: "no more"})
				} else {
					f.Send(&pgproto3.CopyDone{})
				}
			case *pgproto3.DataRow:
				out = append(out, string(m.Values[0]))
			case *pgproto3.CommandComplete:
				out = append(out, string(m.CommandTag))
			case *pgproto3.ErrorResponse:
				out = append(out, problem(m.Code, m.Message, m.Detail, m.Hint, int(m.Position), m.Where))
			case *pgproto3.ReadyForQuery:
				return out
			}
		}
	}
	ask("begin; savepoint s", nil)
	answer := ask(c.text, &c)
	if strings.Contains(c.text, " from stdin") {
		if kept := ask(readBack, nil); len(kept) == 2 {
			answer = append(answer, fmt.Sprintf("kept %q", kept[0]))
		}
	}
	ask("rollback", nil)
	return strings.Join(answer, " / ")
}

func begun(way string, columns int, binary bool) string {
	return fmt.Sprintf("%s %d %v", way, columns, binary)
}

// problem formats an error. It omits the PL/pgSQL context, which Fiveways does not have.
func problem(code, message, detail, hint string, position int, where string) string {
	lines := slices.DeleteFunc(strings.Split(where, "\n"), func(l string) bool { return strings.HasPrefix(l, "PL/pgSQL") })
	return fmt.Sprintf("%s %q %q %q @%d %q", code, message, detail, hint, position, strings.Join(lines, "\n"))
}

// shelf is a schema with the relations of setUp.
type shelf struct{ kept []string }

func (*shelf) Name() string                                 { return "public" }
func (*shelf) Version() uint64                              { return 0 }
func (*shelf) Functions(*expr.Env, string) []*expr.Function { return nil }
func (*shelf) AllFunctions(*expr.Env) []*expr.Function      { return nil }
func (*shelf) AllRelations(*expr.Env) []schema.Relation     { return nil }
func (s *shelf) Relation(_ *expr.Env, name string) schema.Relation {
	id, text := value.Field{Name: "id", Type: value.Int4}, value.Field{Name: "name", Type: value.Text}
	switch name {
	case "t":
		return taker{relation{"t", 'v', []value.Field{id, text, {Name: "at", Type: value.TimestampTZType}}, nil}, s}
	case "guarded":
		return guarded{taker{relation{"guarded", 'v', []value.Field{id}, nil}, s}}
	case "bare":
		return relation{"bare", 'v', []value.Field{id}, nil}
	case "tab":
		return relation{"tab", 'r', []value.Field{id, text}, [][]value.Datum{{int64(1), "one"}, {int64(2), "two"}, {nil, nil}}}
	}
	return nil
}

func (*shelf) Type(name string) *value.Type {
	if name == "hstore" {
		return value.Hstore
	}
	return nil
}

type relation struct {
	name    string
	kind    byte
	columns []value.Field
	rows    [][]value.Datum
}

func (r relation) OID() uint32            { return 90000 }
func (r relation) Name() string           { return r.name }
func (r relation) Kind() byte             { return r.kind }
func (r relation) Columns() []value.Field { return r.columns }

func (r relation) Scan(*expr.Env, []bool) iter.Seq2[[]value.Datum, error] {
	return func(yield func([]value.Datum, error) bool) {
		for _, row := range r.rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// taker is the view that accepts rows.
type taker struct {
	relation
	s *shelf
}

func (r taker) Insert(env *expr.Env, row []value.Datum, _ []bool) ([]value.Datum, error) {
	if row[1] == "refuse" {
		return nil, pgerror.New(pgerror.RaiseException, "refused")
	}
	texts := []string{"null", "null", "null"}
	for i, d := range row {
		if d != nil {
			texts[i] = value.String(r.columns[i].Type, d, &env.Settings)
		}
	}
	if row[1] != nil {
		texts[1] = quoted(texts[1])
	}
	r.s.kept = append(r.s.kept, strings.Join(texts, "|"))
	return row, nil
}

// guarded is a view for which the user has no permission.
type guarded struct{ taker }

func (guarded) May(string) error {
	return pgerror.New(pgerror.InsufficientPrivilege, "permission denied for view guarded")
}

// quoted is quote_literal.
func quoted(s string) string {
	s = strings.ReplaceAll(s, "'", "''")
	if strings.Contains(s, `\`) {
		return "E'" + strings.ReplaceAll(s, `\`, `\\`) + "'"
	}
	return "'" + s + "'"
}

// client is the client of ours.
type client struct {
	trial
	out    []string
	copied []byte
}

func (c *client) CopyOut(columns int, binary bool) error {
	c.out = append(c.out, begun("out", columns, binary))
	return nil
}

func (c *client) CopyData(b []byte) error { c.copied = append(c.copied, b...); return nil }

func (c *client) CopyOutEnd() error {
	c.out = append(c.out, fmt.Sprintf("%q", c.copied))
	return nil
}

func (c *client) CopyIn(columns int, binary bool) error {
	c.out = append(c.out, begun("in", columns, binary))
	return nil
}

func (c *client) CopyPiece() ([]byte, error) {
	switch {
	case len(c.in) > 0:
		p := c.in[0]
		c.in = c.in[1:]
		return []byte(p), nil
	case c.fails:
		return nil, pgerror.New(pgerror.QueryCanceled, "COPY from stdin failed: no more")
	}
	return nil, io.EOF
}

func (c *client) CopyLimit() int { return 1 << 20 }

// newSession returns a session with the relations of the shelf.
func newSession(s *shelf, c *client) *sql.Session {
	o := sides.Options(s)
	o.Copier = c
	return sql.NewSession(o)
}

// ours runs a trial here.
func ours(c trial) string {
	s, out := &shelf{}, &client{trial: c}
	session := newSession(s, out)
	defer session.Close()
	if err := session.SetDefault("timezone", "UTC"); err != nil {
		return err.Error()
	}
	err := run(session, out)
	var e *pgerror.Error
	if errors.As(err, &e) {
		out.out = append(out.out, problem(e.Code, e.Message, e.Detail, e.Hint, e.Position, e.Context))
	} else if err != nil {
		out.out = append(out.out, err.Error())
	}
	if err == nil && strings.Contains(c.text, " from stdin") {
		out.out = append(out.out, fmt.Sprintf("kept %q", strings.Join(s.kept, " ")))
	}
	return strings.Join(out.out, " / ")
}

func run(session *sql.Session, c *client) error {
	list, err := session.Split(c.text)
	if err != nil {
		return err
	}
	portal, err := session.Open(list[0], nil)
	if err != nil {
		return err
	}
	_, tag, err := session.Fetch(context.Background(), portal, 0, func([]value.Datum) error { return nil })
	if err == nil {
		c.out = append(c.out, tag)
	}
	return err
}
