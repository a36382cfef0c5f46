package pgwire

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// many returns a list of n copies of v.
func many[T any](n int, v T) []T { return slices.Repeat([]T{v}, n) }

// TestHostileMessages sends messages that no driver sends, followed by ordinary statements. The
// session survives.
func TestHostileMessages(t *testing.T) {
	type ms = []pgproto3.FrontendMessage
	one := &pgproto3.Parse{Query: "select $1::int"}
	none := &pgproto3.Parse{Query: "select 1"}
	echo := [][]byte{[]byte("1")}
	for name, q := range map[string]struct {
		send ms
		want string
	}{
		"no parameter": {ms{one, &pgproto3.Bind{}, sync_},
			`1 / E ERROR 08P01 bind message supplies 0 parameters, but prepared statement "" requires 1 / Z I`},
		"65535 parameters": {ms{none, &pgproto3.Bind{Parameters: many(65535, []byte("1"))}, sync_},
			`1 / E ERROR 08P01 bind message supplies 65535 parameters, but prepared statement "" requires 0 / Z I`},
		"65535 parameter formats": {ms{one, &pgproto3.Bind{Parameters: echo, ParameterFormatCodes: many(65535, int16(1))}, sync_},
			`1 / E ERROR 08P01 bind message has 65535 parameter formats but 1 parameters / Z I`},
		"65535 result formats": {ms{one, &pgproto3.Bind{Parameters: echo, ResultFormatCodes: many(65535, int16(1))}, sync_},
			`1 / E ERROR 08P01 bind message has 65535 result formats but query has 1 columns / Z I`},
		"parameter 131073": {ms{&pgproto3.Parse{Query: "select $131073::int"}, sync_}, "E ERROR 42P02 there is no parameter $131073 @8 / Z I"},
		"parameter 0":      {ms{&pgproto3.Parse{Query: "select $0"}, sync_}, "E ERROR 42P02 there is no parameter $0 @8 / Z I"},
		"binary of a wrong length": {ms{one, &pgproto3.Bind{Parameters: [][]byte{{1, 2, 3}}, ParameterFormatCodes: []int16{1}}, sync_},
			"1 / E ERROR 08P01 insufficient data left in message in unnamed portal parameter $1 / Z I"},
		"type that there is not": {ms{&pgproto3.Parse{Query: "select $1", ParameterOIDs: []uint32{4_000_000_000}}, sync_}, "E ERROR "},
		"unknown names": {ms{&pgproto3.Describe{ObjectType: 'S', Name: "x"}, &pgproto3.Execute{Portal: "x"}, sync_},
			`E ERROR 26000 prepared statement "x" does not exist / Z I`},
		"unknown unnamed":  {ms{&pgproto3.Query{String: "select"}, &pgproto3.Describe{ObjectType: 'S'}, sync_}, "T / D / C SELECT 1 / Z I / E ERROR 26000 "},
		"bound to nothing": {ms{&pgproto3.Bind{PreparedStatement: strings.Repeat("n", 100_000)}, sync_}, "E ERROR 26000 prepared statement "},
		"parse in a failed transaction": {ms{&pgproto3.Query{String: "begin"}, &pgproto3.Query{String: "select 1/0"}, none, sync_, &pgproto3.Parse{Query: "rollback"},
			&pgproto3.Bind{}, &pgproto3.Execute{}, sync_},
			"C BEGIN / Z T / E ERROR 22012 division by zero / Z E / " +
				"E ERROR 25P02 current transaction is aborted, commands ignored until end of transaction block / Z E / 1 / 2 / C ROLLBACK / Z I"},
		"describe in a failed transaction": {ms{&pgproto3.Parse{Name: "a", Query: "select 1"}, sync_, &pgproto3.Query{String: "begin"},
			&pgproto3.Query{String: "select 1/0"}, &pgproto3.Describe{ObjectType: 'S', Name: "a"}, sync_, &pgproto3.Query{String: "rollback"}},
			"1 / Z I / C BEGIN / Z T / E ERROR 22012 division by zero / Z E / " +
				"E ERROR 25P02 current transaction is aborted, commands ignored until end of transaction block / Z E / C ROLLBACK / Z I"},
		"many in one Parse": {ms{&pgproto3.Parse{Query: "select 1; drop table x"}, sync_}, "E ERROR 42601 cannot insert multiple commands into a prepared statement / Z I"},
	} {
		t.Run(name, func(t *testing.T) {
			c := startRealNode(t, Options{}).login()
			c.send(q.send...)
			var got []string
			for range strings.Count(q.want+" / ", " / ") {
				got = append(got, c.next())
			}
			if all := strings.Join(got, " / "); all != q.want && !strings.HasPrefix(all, q.want) {
				t.Errorf("got  %s\nwant %s", all, q.want)
			}
			c.send(&pgproto3.Query{String: "rollback"}, &pgproto3.Query{String: "select 1"})
			c.until("Z")
			for text := ""; !strings.Contains(text, "C SELECT 1 / Z I"); {
				if text = c.until("Z"); strings.Contains(text, "gone") {
					t.Fatal("the session is over")
				}
			}
		})
	}
}

// TestLengthsThatLie: an invalid length or kind ends the connection, because the start of the next
// message is unknown. Nothing is allocated for the claimed length. TestBrokenBodiesAsPostgres
// covers wrong lengths inside of bodies.
func TestLengthsThatLie(t *testing.T) {
	n := startRealNode(t, Options{MaxMessageSize: 1 << 20})
	for name, text := range map[string]string{
		"query of 2 GB": "Q\x7f\xff\xff\xff",
		"query of -1":   "Q\xff\xff\xff\xff",
		"query of 3":    "Q\x00\x00\x00\x03",
		"unknown kind":  "?\x00\x00\x00\x04",
	} {
		t.Run(name, func(t *testing.T) {
			n.t = t
			c := n.login()
			c.write([]byte(text))
			if got := c.next(); !strings.HasPrefix(got, "E FATAL 08P01 ") {
				t.Errorf("got %s", got)
			}
			if got := c.next(); got != "gone" {
				t.Errorf("and then %s", got)
			}
		})
	}
	n.t = t
	n.login().query("select 1", `T ?column?:23:0 / D "1" / C SELECT 1 / Z I`)
}

// TestNamesAreNoCode uses names and selectors that would be executed if statements were
// concatenated from them (SQL injection).
func TestNamesAreNoCode(t *testing.T) {
	n := startRealNode(t, Options{})
	c := n.login()
	run := func(text string) string {
		c.n.t = t
		c.send(&pgproto3.Query{String: text})
		return c.until("Z")
	}
	run("select mbus4.create_queue('q', 1)")
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	names := []string{`q; drop`, `q"`, `q'`, `q--`, `../q`, "q\n", `a.b`, `Q`, ``, ` `, strings.Repeat("q", 33), `ö`, `%`, `$1`, `pg_catalog.x`}
	for _, name := range names {
		for _, call := range []string{"create_queue(%s, 1)", "create_consumer('q', %s)"} {
			if got := run("select mbus4." + fmt.Sprintf(call, quote(name))); !strings.Contains(got, "E ERROR P0001 ") {
				t.Errorf(call+": %s", name, got)
			}
		}
	}
	for i, name := range names {
		if len(name) > 0 {
			run(fmt.Sprintf("select mbus4.create_view('q', 'default', 'public', %s)", quote(name)))
			if got := run(`insert into public."` + strings.ReplaceAll(name, `"`, `""`) + `" values ('n=>1')`); !strings.HasPrefix(got, "C INSERT 0 1") {
				t.Errorf("view %d %q: %s", i, name, got)
			}
		}
		if got := run("select mbus4.create_view('q', 'default', " + quote("s"+name) + ", 'v')"); !strings.Contains(got, "E ERROR 3F000 ") {
			t.Errorf("schema %q: %s", name, got)
		}
	}
	for i, selector := range []string{
		"true) or (true", "true); select (true", "true; drop", "true)--", "(true", "true)", "true union select true", "true) from pg_authid where (true",
		"(select true)", "exists (select 1)", "true as x", "*", "t.*", "true, true", "$1", "now() > 'yesterday'", "mbus4.post('q','n=>1') is null",
		"current_user = 'guest'", "true order by 1", "true limit 1", "true) group by (1", "true /*", "", "row(true)", "count(*) > 0", "pg_sleep(1) is null",
		"nextval('x') > 0", "mbus4.take('q.1') is null", "set_config('role','x',false) = ''", "true) into (x",
	} {
		for _, call := range []string{"create_consumer('q', 'c%d', %s)", "create_trigger('q', 't%d', %s)", "create_temporary_consumer('q%.0d', %s)"} {
			got := run("select mbus4." + fmt.Sprintf(call, i, quote(selector)))
			if refused := strings.Contains(got, "E ERROR "); refused != (selector != "") {
				t.Errorf(call+": %s", i, selector, got)
			}
		}
		if selector == "" || slices.ContainsFunc([]string{"now", "current", "pg_sleep"}, func(p string) bool { return strings.HasPrefix(selector, p) }) {
			continue // a selector of dyn_consume may use these
		}
		if got := run("select count(*) from mbus4.dyn_consume('q', " + quote(selector) + ")"); !strings.Contains(got, "E ERROR ") {
			t.Errorf("dyn_consume %q: %s", selector, got)
		}
	}
}

// TestRoutine: postgres.js prepares a statement again if it is gone, which it sees by the routine.
func TestRoutine(t *testing.T) {
	c := startRealNode(t, Options{}).login()
	c.send(&pgproto3.Bind{PreparedStatement: "gone"}, sync_)
	m, err := c.f.Receive()
	if err != nil {
		t.Fatal(err)
	}
	if e, ok := m.(*pgproto3.ErrorResponse); !ok || e.Code != "26000" || e.Routine != "FetchPreparedStatement" {
		t.Errorf("got %#v", m)
	}
}

// TestTextsThatAreNone: a parameter with invalid UTF-8 or a zero byte is refused for every type and
// format, as in PostgreSQL.
func TestTextsThatAreNone(t *testing.T) {
	n := startRealNode(t, Options{})
	array := "\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x19\x00\x00\x00\x01\x00\x00\x00\x01"
	for _, q := range []struct {
		typ, param string
		format     int16
		shown      string
	}{
		{"text", "a\x00b", 0, "0x00"}, {"text", "a\x00b", 1, "0x00"}, {"text", "\x00", 0, "0x00"},
		{"text", "a\xff", 0, "0xff"}, {"text", "a\xff", 1, "0xff"}, {"text", "\xc0\x80", 0, "0xc0 0x80"},
		{"text", "\xed\xa0\x80", 0, "0xed 0xa0 0x80"}, {"text", "\xe2\x82", 0, "0xe2 0x82"},
		{"varchar", "a\x00", 1, "0x00"}, {"name", "a\x00", 1, "0x00"}, {"json", "\"\x00\"", 1, "0x00"}, {"jsonb", "\x01\"\x00\"", 1, "0x00"},
		{"int", "1\x00", 0, "0x00"}, {"bytea", "1\x00", 0, "0x00"}, {"hstore", "a\x00b=>c", 0, "0x00"}, {"text[]", "{a\x00b}", 0, "0x00"},
		{"text[]", array + "\x00\x00\x00\x03a\x00b", 1, "0x00"},
		{"hstore", "\x00\x00\x00\x01\x00\x00\x00\x03a\x00b\x00\x00\x00\x01c", 1, "0x00"},
		{"hstore", "\x00\x00\x00\x01\x00\x00\x00\x01a\x00\x00\x00\x02c\xff", 1, "0xff"},
	} {
		n.t = t
		c := n.login()
		c.send(&pgproto3.Parse{Query: "select $1::" + q.typ},
			&pgproto3.Bind{Parameters: [][]byte{[]byte(q.param)}, ParameterFormatCodes: []int16{q.format}}, sync_)
		want := `1 / E ERROR 22021 invalid byte sequence for encoding "UTF8": ` + q.shown + " in unnamed portal parameter $1 / Z I"
		if got := c.next() + " / " + c.next() + " / " + c.next(); got != want {
			t.Errorf("%s %q in form %d: %s", q.typ, q.param, q.format, got)
		}
	}
}
