package sql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

func mustPrepare(t *testing.T, c *client, text string, oids ...uint32) *Prepared {
	t.Helper()
	p, err := c.s.Prepare(text, oids)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mustOpen(t *testing.T, c *client, p *Prepared, args ...value.Datum) *Portal {
	t.Helper()
	o, err := c.s.Open(p, args)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// fetch runs a portal and returns its rows and its completion as text.
func fetch(c *client, o *Portal, max int) string {
	var rows []string
	done, tag, err := c.s.Fetch(context.Background(), o, max, func(row []value.Datum) error {
		rows = append(rows, show(row))
		return nil
	})
	if err != nil {
		return code(err)
	}
	return fmt.Sprintf("%s %v %s", strings.Join(rows, ","), done, tag)
}

func code(err error) string {
	var e *pgerror.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return fmt.Sprint(err)
}

func expect(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestPortal: a portal with a row limit calls its function no more often than rows were requested.
func TestPortal(t *testing.T) {
	c := newClient(false)
	defer c.s.Close()
	o := mustOpen(t, c, mustPrepare(t, c, "select n from fake.pairs($1)"), int64(5))
	expect(t, "first two", fetch(c, o, 2), "1,2 false ")
	expect(t, "calls", c.fake.calls["pairs"], 2)
	expect(t, "the next two", fetch(c, o, 2), "3,4 false ")
	expect(t, "the rest", fetch(c, o, 2), "5 true SELECT 1")
	expect(t, "no more", fetch(c, o, 0), " true SELECT 0")
	expect(t, "work", c.work.log, "[begin]")
	expect(t, "sync", c.s.Sync(t.Context()), nil)
	expect(t, "work", c.work.log, "[begin commit]")

	half := mustOpen(t, c, mustPrepare(t, c, "select n from fake.pairs(10)"))
	if err := c.s.Bind("half", half); err != nil {
		t.Fatal(err)
	}
	expect(t, "one", fetch(c, half, 1), "1 false ")
	expect(t, "sync", c.s.Sync(t.Context()), nil)
	_, err := c.s.Portal("half")
	expect(t, "its transaction is over", code(err), pgerror.InvalidCursor)

	inserts := mustOpen(t, c, mustPrepare(t, c, "insert into fake.box(data) values ('a'), ('b'), ('c') returning id"))
	expect(t, "returning", fetch(c, inserts, 2), "1,2 false ")
	expect(t, "all are stored", len(c.fake.relations[2].(*fakeView).rows), 3)
	expect(t, "returning", fetch(c, inserts, 2), "3 true INSERT 0 3")
}

// TestHeldCursorEnds: a commit reads the rows of a cursor WITH HOLD. The end of its context, or
// statement_timeout, ends that.
func TestHeldCursorEnds(t *testing.T) {
	const declare = "declare c cursor with hold for select g from generate_series(1, 1000000000000) g where g < 0"
	c := newClient(false)
	defer c.s.Close()
	expect(t, "declare", fetch(c, mustOpen(t, c, mustPrepare(t, c, declare)), 0), " true DECLARE CURSOR")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	expect(t, "sync", c.s.Sync(ctx), "canceling statement due to user request")
	c.query("set statement_timeout = 20")
	expect(t, "declare again", fetch(c, mustOpen(t, c, mustPrepare(t, c, declare)), 0), " true DECLARE CURSOR")
	expect(t, "sync", c.s.Sync(t.Context()), "canceling statement due to statement timeout")
	for _, text := range []string{declare, "begin; " + declare + "; commit"} {
		c.query("set statement_timeout = 20")
		c.query(text)
		if got := c.take(); !strings.Contains(got, "canceling statement due to statement timeout") {
			t.Errorf("%s: %s", text, got)
		}
		c.query("rollback")
	}
}

// TestLate: a pipeline is one transaction, and only its last result is the one after the commit. A
// portal with a row limit is unaffected.
func TestLate(t *testing.T) {
	c := newClient(false)
	defer c.s.Close()
	solve := mustPrepare(t, c, "select fake.solve($1)")
	last := func(arg string) *Portal {
		o := mustOpen(t, c, solve, arg)
		expect(t, "asks", c.s.AsksLast(o), true)
		o.Last = true
		return o
	}
	expect(t, "by itself", fetch(c, last("a"), 0), "a after commit true SELECT 1")
	expect(t, "status", c.s.Status(), byte('I'))
	expect(t, "sync", c.s.Sync(t.Context()), nil)
	expect(t, "work", c.work.log, "[begin solve a later commit]")

	c.work.log = nil
	expect(t, "of a pipeline the first", fetch(c, mustOpen(t, c, solve, "b"), 0), "perhaps true SELECT 1")
	expect(t, "something else", fetch(c, mustOpen(t, c, mustPrepare(t, c, "select 1")), 0), "1 true SELECT 1")
	expect(t, "the last", fetch(c, last("c"), 0), "c after commit true SELECT 1")
	expect(t, "sync", c.s.Sync(t.Context()), nil)
	expect(t, "work", c.work.log, "[begin solve b solve c later commit]")

	c.work.log = nil
	expect(t, "the first of one that fails", fetch(c, mustOpen(t, c, solve, "b"), 0), "perhaps true SELECT 1")
	expect(t, "the one that fails", fetch(c, mustOpen(t, c, mustPrepare(t, c, "select fake.fails()")), 0), "P0001")
	expect(t, "work", c.work.log, "[begin solve b rollback]")

	expect(t, "with a row limit", fetch(c, last("d"), 1), "perhaps false ")
	expect(t, "sync", c.s.Sync(t.Context()), nil)

	expect(t, "begin", fetch(c, mustOpen(t, c, mustPrepare(t, c, "begin")), 0), " true BEGIN")
	expect(t, "asks in a block", c.s.AsksLast(mustOpen(t, c, solve, "f")), false)
	expect(t, "rollback", fetch(c, mustOpen(t, c, mustPrepare(t, c, "rollback")), 0), " true ROLLBACK")

	c.work.fail = pgerror.New(pgerror.ProgramLimitExceeded, "too much")
	_, _, err := c.s.Fetch(t.Context(), last("e"), 0, func([]value.Datum) error { t.Error("a row is shown"); return nil })
	expect(t, "a commit that fails", code(err), pgerror.ProgramLimitExceeded)
	expect(t, "sync", c.s.Sync(t.Context()), nil)
}

func TestParameterTypes(t *testing.T) {
	c := newClient(false)
	defer c.s.Close()
	for _, q := range []struct {
		text string
		oids []uint32
		want string
	}{
		{"select fake.post($1, $2)", nil, "text text"},
		{"select $1 + 1", nil, "integer"},
		{"select $1", nil, "text"},
		{"select $1", []uint32{value.Int8.OID}, "bigint"},
		{"select $2::text", []uint32{value.Int4.OID}, "integer text"},
		{"select * from fake.people where age > $1 limit $2", nil, "integer bigint"},
		{"insert into fake.box values ($1, $2)", nil, "integer text"},
		{"select 1 where $1", nil, "boolean"},
		{"select name from fake.people where id = any($1)", nil, "integer[]"},
	} {
		var types []string
		for _, p := range mustPrepare(t, c, q.text, q.oids...).Params {
			types = append(types, p.String())
		}
		expect(t, q.text, strings.Join(types, " "), q.want)
	}
	for text, want := range map[string]string{
		"select $2::text": pgerror.IndeterminateType, "select 1; select 2": pgerror.SyntaxError, "selec": pgerror.SyntaxError,
	} {
		if _, err := c.s.Prepare(text, nil); code(err) != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	_, err := c.s.Prepare("select $1", []uint32{424242})
	expect(t, "unknown type", code(err), pgerror.UndefinedObject)
	_, err = c.s.Open(mustPrepare(t, c, "select $1::int"), nil)
	expect(t, "no parameters", code(err), pgerror.ProtocolViolation)
}

// TestReplan: a prepared statement follows schema changes, unless its result columns have changed.
func TestReplan(t *testing.T) {
	c := newClient(false)
	defer c.s.Close()
	p := mustPrepare(t, c, "select fake.tick()")
	expect(t, "before", fetch(c, mustOpen(t, c, p), 0), "1 true SELECT 1")
	tick := c.fake.functions[0]
	plan := p.plan
	mustOpen(t, c, p)
	if p.plan != plan {
		t.Error("planned again for nothing")
	}
	c.fake.functions[0] = &expr.Function{Schema: "fake", Name: "tick", Returns: value.Int4, Volatility: expr.Volatile,
		Call: func(*expr.Env, []value.Datum) (value.Datum, error) { return int64(-1), nil }}
	c.fake.version++
	expect(t, "another function", fetch(c, mustOpen(t, c, p), 0), "-1 true SELECT 1")
	c.fake.functions[0] = &expr.Function{Schema: "fake", Name: "tick", Returns: value.Text, Call: tick.Call}
	c.fake.version++
	_, err := c.s.Open(p, nil)
	expect(t, "another type", err, "cached plan must not change result type")
	expect(t, "its routine", err.(*pgerror.Error).Routine, "RevalidateCachedQuery")
	c.fake.functions = c.fake.functions[1:]
	c.fake.version++
	_, err = c.s.Open(p, nil)
	expect(t, "no function", code(err), pgerror.UndefinedFunction)
}

func TestNames(t *testing.T) {
	c := newClient(false)
	defer c.s.Close()
	p := mustPrepare(t, c, "select 1")
	expect(t, "store", c.s.Store("p", p), nil)
	expect(t, "twice", code(c.s.Store("p", p)), pgerror.DuplicatePrepared)
	expect(t, "unnamed", c.s.Store("", p), nil)
	expect(t, "unnamed again", c.s.Store("", p), nil)
	c.query("execute p; deallocate p")
	expect(t, "EXECUTE", c.take(), "?column? integer\n1\nSELECT 1\nDEALLOCATE\n")
	_, err := c.s.Statement("p")
	expect(t, "gone", code(err), pgerror.InvalidPrepared)
	c.query("begin; prepare q as select 2")
	if q, err := c.s.Statement("q"); err != nil || len(q.Columns) != 1 {
		t.Errorf("the protocol does not see what PREPARE made: %v", err)
	}
	c.query("declare c cursor for values (1), (2)")
	o, err := c.s.Portal("c")
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "a cursor is a portal", fetch(c, o, 1), "1 false ")
	expect(t, "cursor again", code(c.s.Bind("c", o)), pgerror.DuplicateCursor)
	expect(t, "status", string(c.s.Status()), "E")
}

// TestCancel: the context of a Fetch cancels waits and long computations.
func TestCancel(t *testing.T) {
	c := newClient(false)
	defer c.s.Close()
	for _, text := range []string{"select fake.waits()", "select count(*) from generate_series(1, 1000000000)",
		"select * from fake.people a, fake.people b, generate_series(1, 100000000) c where a.id < 0"} {
		ctx, cancel := context.WithCancel(context.Background())
		o := mustOpen(t, c, mustPrepare(t, c, text))
		cancel()
		_, _, err := c.s.Fetch(ctx, o, 0, func([]value.Datum) error { return nil })
		expect(t, text, code(err), pgerror.QueryCanceled)
	}
	shutdown := pgerror.New(pgerror.AdminShutdown, "bye")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(shutdown)
	_, _, err := c.s.Fetch(ctx, mustOpen(t, c, mustPrepare(t, c, "select fake.waits()")), 0, nil)
	expect(t, "another cause", err, shutdown)
}

// TestCommitFails: an error of the commit is the error of the statement.
func TestCommitFails(t *testing.T) {
	c := newClient(false)
	defer c.s.Close()
	c.work.fail = pgerror.New("40001", "not committed")
	c.query("select fake.tick()")
	expect(t, "autocommit", c.take(), "tick integer\n1\nERROR: 40001 not committed\n")
	c.query("begin; select fake.tick()")
	c.take()
	c.work.fail = pgerror.New("40001", "not committed")
	c.query("commit")
	expect(t, "commit", c.take(), "ERROR: 40001 not committed\n")
	expect(t, "status", string(c.s.Status()), "I")
}

// TestRun: functions that run SQL do so in the current transaction.
func TestRun(t *testing.T) {
	c := newClient(false)
	defer c.s.Close()
	var got []string
	c.fake.functions = append(c.fake.functions, &expr.Function{
		Schema: "fake", Name: "run", Volatility: expr.Volatile, Returns: value.Int4, Args: []expr.Arg{{Type: value.Text}},
		Call: func(env *expr.Env, args []value.Datum) (value.Datum, error) {
			return int64(0), c.s.Run(env, args[0].(string), []*value.Type{pairType}, []value.Datum{value.Record{int64(7), "seven"}},
				func(row []value.Datum) error { got = append(got, show(row)); return nil })
		},
	})
	c.fake.version++
	c.query("select fake.run('select ($1).word, ($1).n + 1; insert into fake.box values (($1).n, ($1).word)')")
	expect(t, "rows", got, "[seven 8]")
	expect(t, "work", c.work.log, "[begin commit]")
	c.take()
	c.query("select fake.run('commit')")
	expect(t, "commit", c.take(), "run integer\nERROR: 0A000 EXECUTE of transaction commands is not implemented\n")
}

// TestClose: a session that is closed in the middle of a query leaves no goroutine running.
func TestClose(t *testing.T) {
	c := newClient(false)
	o := mustOpen(t, c, mustPrepare(t, c, "select n from fake.pairs(10)"))
	if err := c.s.Bind("", o); err != nil {
		t.Fatal(err)
	}
	fetch(c, o, 1)
	c.s.Close()
	if o.stop != nil {
		t.Error("the query is still there")
	}
	expect(t, "work", c.work.log, "[begin close]")
}

func show(row []value.Datum) string { return strings.Trim(fmt.Sprint(row), "[]") }
