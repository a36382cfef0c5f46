package calls

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
	"fiveways.dev/fiveways/test/sql/sides"
)

const recordedCursors = "testdata/cursors.txt"

// partly are queries that are read partially. They omit what differs here: arguments of window
// functions are evaluated as a whole; DISTINCT is evaluated only as far as it is read (PostgreSQL
// hashes first); after the last row of a set-returning function PostgreSQL evaluates the columns
// beside it once more.
var partly = []string{
	"select tick(g) from generate_series(1, 4) g", "select g, tick(g) from generate_series(1, 4) g where flag(g <> 2)", "select id, tag from box",
	"select id from taken() id", "select tick(1)", "select tick(1) union all select tick(2) union all select tick(3)",
	"values (tick(1)), (tick(2)), (tick(3))", "select (select tick(g)) from generate_series(1, 4) g", "select taken()",
	"select tick(g) from generate_series(1, 4) g order by g desc", "select tick(g) as n from generate_series(1, 4) g order by n desc",
	"select tick(g) from generate_series(1, 4) g limit 3", "select tick(g) from generate_series(1, 4) g offset 1 limit 2",
	"select count(tick(g)) from generate_series(1, 4) g",
	"select id, tick(id) from box union all select tick(3), 4", "with x as (select tick(g) as n from generate_series(1, 4) g) select n from x",
	readTwice + "select n, (select n from x offset 1 limit 1) from x", readTwice + "select n from x union all select n from x",
	"select g, t.id from generate_series(1, 3) g, lateral (select id from box where id = g) t",
	"select g, t.n from generate_series(1, 3) g, lateral (select tick(g) as n) t", "select g, (select count(*) from box where id = g) from generate_series(1, 3) g",
	"select case when g > 2 then tick(g) end from generate_series(1, 4) g",
	"select id from box where false", "select tick(g) from generate_series(1, 4) g limit 0", "select 6 / (tick(g) - 3) from generate_series(1, 4) g",
	"with recursive r as (select tick(1) as n union all select tick(n + 1) from r where n < 4) select n from r",
	"select g from generate_series(1, 4) g where exists (select from box where id = g)", "select n, id from (values (2), (3)) v(n) left join box on id = n",
}

// ways are the ways to read a query, the %s, one statement after the other. "execute n" fetches n
// rows from a portal that "bind" has created.
var ways = []string{
	"begin; declare c no scroll cursor for %s; fetch c; fetch 2 from c; fetch all c; commit",
	"begin; declare c no scroll cursor for %s; fetch c; close c; commit", "begin; declare c cursor for %s; fetch 2 from c; commit",
	"begin; declare c cursor for %s; move c; fetch c; rollback", "begin; declare c cursor for %s; fetch 0 from c; move all in c; fetch c; commit",
	"begin; declare c scroll cursor for %s; fetch c; fetch next c; commit", "begin; declare c cursor for %s; commit",
	"begin; declare c no scroll cursor with hold for %s; fetch c; commit; fetch c; close c",
	"declare c no scroll cursor with hold for %s; fetch 2 from c; close c", "begin; bind %s; execute 1; execute 2; execute 0; commit",
	"begin; bind %s; execute 3; commit", "begin; bind %s; commit", "begin; bind %s; execute 1; rollback",
	"prepare p as %s; explain execute p; explain analyze execute p",
	"explain analyze declare c cursor for %s",
}

// scripts returns the statements of the recorded table.
func scripts() (all []string) {
	for _, way := range ways {
		for _, query := range partly {
			all = append(all, fmt.Sprintf(way, query))
		}
	}
	return all
}

// client is a session of either server.
type client interface {
	simple(text string) (rows []string, err error)
	bind(query string) error
	execute(max int) (rows []string, err error)
	calls() int
	end()
}

// play runs a script and returns, for each of its statements, the number of calls and the result.
func play(c client, script string) string {
	defer c.end()
	var out []string
	for _, step := range strings.Split(script, "; ") {
		before := c.calls()
		rows, err := follow(c, step)
		made := outcome{calls: c.calls() - before, rows: "[" + strings.Join(rows, " ") + "]"}
		var theirs *pgconn.PgError
		var ours *pgerror.Error
		switch {
		case errors.As(err, &theirs):
			made.rows = theirs.Code
		case errors.As(err, &ours):
			made.rows = ours.Code
		case err != nil:
			made.rows = err.Error()
		case statement{text: step}.explains():
			made.rows = plan
		}
		out = append(out, fmt.Sprintf("%d %s", made.calls, made.rows))
	}
	return strings.Join(out, "; ")
}

// follow runs one statement of a script.
func follow(c client, step string) ([]string, error) {
	if query, ok := strings.CutPrefix(step, "bind "); ok {
		return nil, c.bind(query)
	}
	if n, ok := strings.CutPrefix(step, "execute "); ok {
		if most, err := strconv.Atoi(n); err == nil {
			return c.execute(most)
		}
	}
	return c.simple(step)
}

// here is a session of Fiveways.
type here struct {
	c      *counted
	s      *sql.Session
	portal *sql.Portal
}

func newHere(c *counted) *here {
	return &here{c: c, s: sql.NewSession(sides.Options(c))}
}

func (h *here) calls() int { return h.c.calls }
func (h *here) end()       { h.s.Close() }

func (h *here) simple(text string) ([]string, error) {
	list, err := h.s.Split(text)
	if err != nil {
		return nil, err
	}
	portal, err := h.s.Open(list[0], nil)
	if err != nil {
		return nil, err
	}
	return h.fetch(portal, 0)
}

func (h *here) bind(query string) error {
	p, err := h.s.Prepare(query, nil)
	if err != nil {
		return err
	}
	if h.portal, err = h.s.Open(p, nil); err != nil {
		return err
	}
	return h.s.Bind("p", h.portal)
}

func (h *here) execute(most int) ([]string, error) {
	portal, err := h.s.Portal("p")
	if err != nil {
		return nil, err
	}
	return h.fetch(portal, most)
}

func (h *here) fetch(portal *sql.Portal, most int) (rows []string, err error) {
	set := h.s.Settings()
	_, _, err = h.s.Fetch(context.Background(), portal, most, func(row []value.Datum) error {
		rows = append(rows, sides.Ours(portal.Columns, row, &set, null))
		return nil
	})
	return rows, err
}

// there is a session of a real server, with another session that reads the counter.
type there struct {
	t     *testing.T
	h     *pgconn.HijackedConn
	count *pgconn.PgConn
}

func newThere(t *testing.T, dsn string, count *pgconn.PgConn) *there {
	t.Helper()
	return &there{t, sides.Hijack(t, sides.Connect(t, dsn)), count}
}

func (r *there) calls() int { return theirCalls(r.t, r.count) }

func (r *there) end() {
	r.h.Frontend.Send(&pgproto3.Terminate{})
	if err := errors.Join(r.h.Frontend.Flush(), r.h.Conn.Close()); err != nil {
		r.t.Error(err)
	}
}

func (r *there) simple(text string) ([]string, error) { return r.ask(&pgproto3.Query{String: text}) }

func (r *there) bind(query string) error {
	_, err := r.ask(&pgproto3.Parse{Query: query}, &pgproto3.Bind{DestinationPortal: "p"}, &pgproto3.Sync{})
	return err
}

func (r *there) execute(most int) ([]string, error) {
	return r.ask(&pgproto3.Execute{Portal: "p", MaxRows: uint32(most)}, &pgproto3.Sync{})
}

func (r *there) ask(all ...pgproto3.FrontendMessage) (rows []string, failed error) {
	f := r.h.Frontend
	for _, m := range all {
		f.Send(m)
	}
	if err := f.Flush(); err != nil {
		r.t.Fatal(err)
	}
	for {
		got, err := f.Receive()
		if err != nil {
			r.t.Fatal(err)
		}
		switch got := got.(type) {
		case *pgproto3.DataRow:
			rows = append(rows, sides.Theirs(got.Values, null))
		case *pgproto3.ErrorResponse:
			failed = pgconn.ErrorResponseToPgError(got)
		case *pgproto3.ReadyForQuery:
			return rows, failed
		}
	}
}

// TestCursors compares with the recorded answers.
func TestCursors(t *testing.T) {
	f, err := os.Open(recordedCursors)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := map[string]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		answer, script, _ := strings.Cut(lines.Text(), "\t")
		want[script] = answer
	}
	c := newCounted()
	for _, script := range scripts() {
		if got := play(newHere(c), script); got != want[script] {
			t.Errorf("%s\n\twant %s\n\tgot  %s", script, want[script], got)
		}
	}
}

// TestReadersEnd checks that iterators started for a query of WITH end with the statement, however
// far they were read.
func TestReadersEnd(t *testing.T) {
	before, c := runtime.NumGoroutine(), newCounted()
	query := readTwice + "select n, (select n from x offset 1 limit 1) from x"
	for _, script := range []string{
		"begin; declare c cursor for %s; fetch c; commit", "begin; declare c cursor for %s; fetch c; close c; select 1/0", "begin; bind %s; execute 1",
		"begin; bind %s; execute 1; execute 0; commit", "%s limit 1", "prepare p as %s limit 1; execute p", "explain analyze %s limit 1", "insert into box (id) select n from (%s limit 1) s",
		"declare c cursor with hold for %s; fetch c", "select 6 / (n - 1) from (%s) s",
	} {
		play(newHere(c), fmt.Sprintf(script, query))
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines are left", after-before)
	}
}

// TestServerCursors compares the recorded answers with those of a real server.
func TestServerCursors(t *testing.T) {
	count, dsn := sides.Start(t, setUp)
	var answers strings.Builder
	for _, script := range scripts() {
		fmt.Fprintf(&answers, "%s\t%s\n", play(newThere(t, dsn, count), script), script)
	}
	if *rewrite {
		if err := os.WriteFile(recordedCursors, []byte(answers.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if recorded, err := os.ReadFile(recordedCursors); err != nil || string(recorded) != answers.String() {
		t.Errorf("the recorded answers are not those of the server: %v", err)
	}
}
