package pgwire

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"fiveways.dev/fiveways/test/postgres"
)

func copied(pieces ...string) (all []pgproto3.FrontendMessage) {
	for _, p := range pieces {
		all = append(all, &pgproto3.CopyData{Data: []byte(p)})
	}
	return append(all, &pgproto3.CopyDone{})
}

// queueInPostgres creates tables and functions in PostgreSQL that look like a queue q and its view
// q_q.
const queueInPostgres = `
create table store (data hstore);
create view q_q as select data from store;
create function keep() returns trigger language plpgsql as 'begin insert into store values (new.data); return new; end';
create trigger keep instead of insert on q_q for each row execute function keep();
create schema mbus4;
create function mbus4.messages(text) returns setof store language sql as 'select data from store'`

// copies are conversations with COPY.
var copies = func() map[string][]pgproto3.FrontendMessage {
	in, count := query("copy q_q from stdin"), query("select count(*) from mbus4.messages('q')")
	type ms = []pgproto3.FrontendMessage
	all := func(parts ...any) (list ms) {
		for _, p := range parts {
			switch p := p.(type) {
			case ms:
				list = append(list, p...)
			case pgproto3.FrontendMessage:
				list = append(list, p)
			}
		}
		return append(list, query("rollback"), count)
	}
	extended := ms{parse("", "copy q_q (data) from stdin csv"), describe('S', ""), bind("", ""), describe('P', ""), execute("", 0)}
	fail := &pgproto3.CopyFail{Message: "enough"}
	return map[string]ms{
		"in":                       all(in, copied("a=>1\n", "b=>2\nc", "=>3\n"), count),
		"in, nothing":              all(in, copied(), in, copied(""), in, copied("", "\\.\n")),
		"in, extended":             all(extended, sync_, copied("a=>1\n\"\"\"b\"\"=>2\"\n"), sync_),
		"in, flushed":              all(extended, &pgproto3.Flush{}, copied("a=>1\n"), &pgproto3.Flush{}, sync_),
		"sync within":              all(in, &pgproto3.CopyData{Data: []byte("a=>")}, sync_, &pgproto3.Flush{}, copied("1\n")),
		"in, pipelined":            all(parse("s", "copy q_q from stdin"), bind("", "s"), execute("", 0), copied("a=>1\n"), bind("", "s"), execute("", 0), copied("b=>1\n"), sync_),
		"gives up":                 all(in, &pgproto3.CopyData{Data: []byte("a=>1\nb")}, fail),
		"gives up, extended":       all(extended, fail, query("select 1"), sync_),
		"gives up with nonsense":   all(in, &pgproto3.CopyFail{Message: "\xff"}),
		"wrong data":               all(in, copied("a=>1\n", "b=>\n", "c=>3\n"), count),
		"wrong data, extended":     all(extended, copied("a=>1,b=>1\n"), sync_, count),
		"wrong data in a block":    all(query("begin"), in, copied("a=>1\nb\n"), in, query("rollback"), in, copied("c=>1\n")),
		"savepoint":                all(query("begin"), in, copied("a=>1\n"), query("savepoint s"), in, copied("b\n"), query("rollback to s"), in, copied("c=>1\n"), query("commit")),
		"several":                  all(query("select 1; copy q_q from stdin; select 2; copy (select 3) to stdout; copy q_q from stdin"), copied("a=>1\n"), copied("b=>1\nc=>1\n")),
		"several, the second bad":  all(query("copy q_q from stdin; copy q_q from stdin; select 1"), copied("a=>1\n"), copied("b=>\n")),
		"read only":                all(query("begin read only"), query("copy (select 1) to stdout"), in),
		"out":                      all(query("copy (select generate_series(1, 3), null) to stdout"), query("copy (select 1 as a, 'x,y' as b) to stdout csv header"), query("copy (select 1 where false) to stdout")),
		"out, extended":            all(parse("", "copy (select generate_series(1, 3)) to stdout"), describe('S', ""), bindFormats("", nil, []int16{1}), execute("", 1), sync_),
		"out, fails":               all(query("copy (select 6 / (g - 3) from generate_series(1, 4) g) to stdout"), query("select 1")),
		"out, binary":              all(query("copy (values (1, 'x'), (2, null)) to stdout (format binary)")),
		"of a view":                all(query("copy q_q to stdout"), query("copy q_q (nope) from stdin"), query("copy nope from stdin")),
		"in latin1":                all(query("set client_encoding = latin1"), in, copied("\xe4=>\xf6\n"), query("copy (select 'ä') to stdout"), query("copy (select '\xe4') to stdout"), query("copy (select '\xe4' || chr(8364)) to stdout")),
		"not in a prepared":        all(query("prepare s as copy q_q from stdin"), query("explain copy q_q from stdin"), query("declare c cursor for copy q_q to stdout")),
		"a parameter":              all(parse("", "copy (select $1::int) to stdout"), sync_),
		"another message":          {in, &pgproto3.CopyData{Data: []byte("a=>1\n")}, query("select 1")},
		"another message, later":   {query("begin"), in, parse("", "select 1")},
		"leaves":                   {in, &pgproto3.CopyData{Data: []byte("a=>1\n")}, terminate},
		"timeout":                  all(query("set statement_timeout = '10ms'"), query("copy (select pg_sleep(10)) to stdout")),
		"null and an empty hstore": all(query("copy q_q from stdin"), copied("\\N\n\n"), count),
	}
}()

// TestCopyAsPostgres runs each conversation against PostgreSQL and this server. The answers and the
// messages in the queue must be the same.
func TestCopyAsPostgres(t *testing.T) {
	real, err := url.Parse(postgres.Start(t, postgres.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	theirs := &node{t: t, addr: real.Host}
	theirs.copying(real.User.Username(), "postgres", []pgproto3.FrontendMessage{query(queueInPostgres)})
	ours := startRealNode(t, Options{})
	ours.copying("guest", "fiveways", []pgproto3.FrontendMessage{query("select mbus4.create_queue('q', 1); select mbus4.create_view('q')")})
	for name, send := range copies {
		t.Run(name, func(t *testing.T) {
			want := theirs.copying(real.User.Username(), "postgres", send)
			got := ours.copying("guest", "fiveways", send)
			if got != want {
				t.Errorf("we answer\n%s\nPostgreSQL\n%s", got, want)
			}
			theirs.copying(real.User.Username(), "postgres", []pgproto3.FrontendMessage{query("delete from store")})
			ours.copying("guest", "fiveways", []pgproto3.FrontendMessage{query("select count(*) from mbus4.consumen_q_by_default(1000)")})
		})
	}
}

// copying sends all messages and returns the answers up to that of a final query, or up to the end
// of the connection.
func (n *node) copying(user, database string, send []pgproto3.FrontendMessage) string {
	n.t.Helper()
	c := n.dial().start(protocol3, "user", user, "database", database, "TimeZone", "UTC")
	defer c.nc.Close()
	c.until("Z")
	c.send(append(send[:len(send):len(send)], query("select 'the end'"))...)
	var all []string
	for {
		all = append(all, c.next())
		if last := all[len(all)-1]; last == "gone" || last == `D "the end"` {
			return strings.Join(all, "\n")
		}
	}
}

// TestCopyEnds: when a session or the server ends while a COPY waits for its client, the data
// received so far is not posted.
func TestCopyEnds(t *testing.T) {
	n := startRealNode(t, Options{})
	other := n.login()
	other.send(query("select mbus4.create_queue('q', 1); select mbus4.create_view('q')"))
	other.until("Z")
	for name, end := range map[string]func(c *client){
		"terminated": func(c *client) {
			other.send(query(fmt.Sprintf("select pg_terminate_backend(%d)", c.pid)))
			other.until("Z")
		},
		"cancel, later": func(c *client) {
			other.send(query(fmt.Sprintf("select pg_cancel_backend(%d)", c.pid)))
			other.until("Z")
			c.send(copied("b=>1\n")...)
		},
		"leaves": func(c *client) { c.nc.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			c := n.login()
			c.send(query("copy q_q from stdin"), &pgproto3.CopyData{Data: []byte("a=>1\n")})
			c.until("G")
			end(c)
			want := map[string]string{"terminated": "E FATAL 57P01 terminating connection due to administrator command / gone", "leaves": "gone",
				"cancel, later": "E ERROR 57014 canceling statement due to user request / Z I"}[name]
			if got := c.until("Z"); got != want {
				t.Errorf("got %s", got)
			}
			other.send(query("select count(*) from mbus4.messages('q')"))
			if got := other.until("Z"); !strings.Contains(got, `D "0"`) {
				t.Errorf("there are messages: %s", got)
			}
		})
	}
}

// TestCopyLimits: a line or a value that exceeds the buffer limit is an error, and the session
// continues.
func TestCopyLimits(t *testing.T) {
	c := startRealNode(t, Options{MaxMessageSize: 1 << 10}).login()
	c.send(query("select mbus4.create_queue('q', 1); select mbus4.create_view('q')"))
	c.until("Z")
	piece := strings.Repeat("x", 50_000)
	binary := "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x7f\xff\xff\xff"
	for statement, data := range map[string][]string{
		"copy q_q from stdin": {piece, piece, piece}, "copy q_q from stdin csv": {`"`, piece, "\n", piece, "\n", piece}, "copy q_q from stdin (format binary)": {binary, piece},
	} {
		c.send(query(statement))
		c.until("G")
		c.send(copied(data...)...)
		if got := c.until("Z"); !strings.HasPrefix(got, "E ERROR 54000 ") || !strings.HasSuffix(got, "/ Z I") {
			t.Errorf("%s: %s", statement, got)
		}
	}
}
