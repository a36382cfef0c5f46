package sqlschema

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"fiveways.dev/fiveways/test/postgres"

	"github.com/jackc/pgx/v5"
)

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(t.Context()) }) //nolint:errcheck // it may be closed
	return conn
}

func run(t *testing.T, conn *pgx.Conn, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// ask returns the only value of a query as text.
func ask(t *testing.T, conn *pgx.Conn, sql string) string {
	t.Helper()
	var got *string
	if err := conn.QueryRow(t.Context(), fmt.Sprintf("select (%s)::text", sql)).Scan(&got); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	if got == nil {
		return "NULL"
	}
	return *got
}

// A second run keeps queues, messages, subscribers, triggers and temporary queues, and recreates
// what was dropped by hand.
func TestInstallTwice(t *testing.T) {
	dsn := postgres.Start(t, postgres.Options{Database: "fiveways"})
	if r, err := Install(t.Context(), dsn); err != nil || r.Before != 0 || r.Database != "fiveways" || r.User != postgres.Superuser {
		t.Fatalf("report %+v, %v", r, err)
	}
	conn := connect(t, dsn)
	run(t, conn, "select mbus4.create_queue('q', 1), mbus4.create_queue('r', 1)", "select mbus4.create_consumer('q', 'c', $$t.data ? 'a'$$)",
		"select mbus4.create_trigger('q', 'r', 'true')", "select mbus4.create_view('q')", "select mbus4.create_run_function('q')",
		"select mbus4.post('q', 'a=>1')", "drop function mbus4.consume_q_by_default(), mbus4.get_iid(text)")
	if r, err := Install(t.Context(), dsn); err != nil || r.Before != Version {
		t.Fatalf("report %+v, %v", r, err)
	}
	run(t, conn, "select mbus4.post('q', 'b=>1')")
	for _, tc := range []struct{ query, want string }{
		{"select string_agg(data::text, ' ') from mbus4.consumen_q_by_default(9)", `"a"=>"1" "b"=>"1"`},
		{"select count(*) from mbus4.consumen_q_by_c(9)", "1"},
		{"select count(*) from mbus4.consumen_r_by_default(9)", "2"},
		{"select count(*) from mbus4.consume_q_by_default()", "0"},
		{"select mbus.get_iid('q') like 'q.%'", "true"},
		{"select count(*) from q_q", "0"},
		{"mbus4.run_on_q('select 1')", "0"},
	} {
		if got := ask(t, conn, tc.query); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.query, got, tc.want)
		}
	}
}

// An ordinary user who owns the database can install and use it, with hstore in its own schema. So
// can users with grants.
func TestInstallByTheOwner(t *testing.T) {
	server := postgres.Run(t, postgres.Options{})
	admin := connect(t, server.DSN())
	run(t, admin, "create role owner login createrole", "create role app login", "create database shop owner owner")
	url := func(user string) string {
		return fmt.Sprintf("postgres://%s@127.0.0.1:%d/shop?sslmode=disable", user, server.Port())
	}
	other := connect(t, url(postgres.Superuser))
	run(t, other, "drop extension hstore", `create schema "Odd ""schema"`, `create extension hstore schema "Odd ""schema"`)
	if _, err := Install(t.Context(), url("owner")); !errors.Is(err, ErrHstore) {
		t.Errorf("hstore in a schema of others: %v", err)
	}
	run(t, other, `grant usage on schema "Odd ""schema" to owner`)
	if _, err := Install(t.Context(), url("owner")); err != nil {
		t.Fatal(err)
	}
	owner, app := connect(t, url("owner")), connect(t, url("app"))
	run(t, owner, "select mbus4.create_queue('q', 1)", "select mbus4.create_queue('guarded', 1, true)", "grant mbus_shop_post_guarded to app",
		"select mbus4.create_consumer('q', 'c', $$t.data ? 'a'$$)")
	if _, err := app.Exec(t.Context(), "select mbus4.post('q', null)"); err == nil || !strings.Contains(err.Error(), "Access denied") {
		t.Errorf("a user without rights posts: %v", err)
	}
	run(t, app, "select mbus4.post('guarded', null)")
	if got := ask(t, owner, "select count(*) from mbus4.consume('guarded')"); got != "1" {
		t.Errorf("%s messages", got)
	}
}

func TestInstallRefusesWithReason(t *testing.T) {
	server := postgres.Run(t, postgres.Options{})
	admin := connect(t, server.DSN())
	run(t, admin, "create role app login", "create database bare", "create database foreign_", "create database newer")
	url := func(user, database string) string {
		return fmt.Sprintf("postgres://%s@127.0.0.1:%d/%s?sslmode=disable", user, server.Port(), database)
	}
	run(t, connect(t, url(postgres.Superuser, "foreign_")), "create schema mbus")
	run(t, connect(t, url(postgres.Superuser, "bare")), "drop extension hstore")
	if _, err := Install(t.Context(), url(postgres.Superuser, "newer")); err != nil {
		t.Fatal(err)
	}
	run(t, connect(t, url(postgres.Superuser, "newer")), fmt.Sprintf("insert into mbus4_store.version values (%d)", Version+1))
	for name, tc := range map[string]struct {
		dsn  string
		want error
	}{
		"no DSN":         {"postgres://%zz", ErrDSN},
		"nobody there":   {"postgres://guest@127.0.0.1:1/x?sslmode=disable", ErrConnect},
		"no database":    {url(postgres.Superuser, "nowhere"), ErrConnect},
		"no rights":      {url("app", "postgres"), ErrRights},
		"no hstore":      {url("app", "bare"), ErrHstore},
		"another's mbus": {url(postgres.Superuser, "foreign_"), ErrForeign},
		"newer":          {url(postgres.Superuser, "newer"), ErrNewer},
		"somebody's":     {url("app", "newer"), ErrRights},
	} {
		if _, err := Install(t.Context(), tc.dsn); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
	}
}
