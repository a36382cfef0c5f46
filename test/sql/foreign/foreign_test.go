package foreign

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/postgres"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

func TestMain(m *testing.M) { brokertest.Main(m) }

// place is a PostgreSQL that has a broker as the foreign server fiveways.
type place struct {
	t      *testing.T
	local  *pgx.Conn // in PostgreSQL
	remote *pgx.Conn // in the broker
}

// setUp runs the commands of docs/protocols/sql-in-postgresql.md.
func setUp(t *testing.T, serverOptions string) place {
	t.Helper()
	b := brokertest.Run(t, "--sql", "127.0.0.1:0", "--sync", "os")
	host, port, err := net.SplitHostPort(b.SQLAddr())
	if err != nil {
		t.Fatal(err)
	}
	p := place{t, connect(t, postgres.Start(t, postgres.Options{})), connect(t, fmt.Sprintf("postgres://guest@%s/fiveways?sslmode=disable", b.SQLAddr()))}
	run(t, p.remote, "select mbus4.create_queue('orders', 8)", "select mbus4.create_view('orders')",
		"select mbus4.create_view_prop('orders', viewname => 'orders_p', with_delay => true, with_expire => true)")
	run(t, p.local, "create extension postgres_fdw", "create extension dblink",
		fmt.Sprintf("create server fiveways foreign data wrapper postgres_fdw options (host '%s', port '%s', dbname 'fiveways'%s)", host, port, serverOptions),
		"create user mapping for current_user server fiveways options (user 'guest', password 'guest')",
		"create foreign table orders (data hstore) server fiveways options (table_name 'orders_q')",
		"create foreign table orders_p (data hstore, properties hstore, delayed_until timestamp, expires timestamp) server fiveways options (table_name 'orders_p')")
	return p
}

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) }) //nolint:errcheck // the server may have exited first
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

// want compares the first column of all rows, joined by spaces.
func want(t *testing.T, conn *pgx.Conn, sql, expected string) {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	if joined := strings.Join(got, " "); joined != expected {
		t.Errorf("%s: %q, want %q", sql, joined, expected)
	}
}

const waiting = "select data->'n' from mbus4.messages('orders')"

// TestInsertBelongsToTheTransaction checks that a message inserted into a foreign table belongs to
// the local transaction.
func TestInsertBelongsToTheTransaction(t *testing.T) {
	p := setUp(t, "")
	run(t, p.local, "create table local_orders (n int)")
	run(t, p.local, "begin", "insert into local_orders values (1)", "insert into orders values ('n=>1')", "rollback")
	want(t, p.remote, waiting, "")
	run(t, p.local, "begin", "insert into local_orders values (2)", "insert into orders values ('n=>2'), ('n=>3')")
	want(t, p.remote, waiting, "")
	run(t, p.local, "commit")
	want(t, p.remote, waiting, "2 3")
	want(t, p.local, "select n::text from local_orders", "2")

	run(t, p.local, "begin", "insert into orders values ('n=>4')", "savepoint s", "insert into orders values ('n=>5')", "rollback to s",
		"insert into orders values ('n=>6')", "commit")
	want(t, p.remote, waiting, "2 3 4 6")

	run(t, p.local, "begin", "insert into orders values ('n=>7')")
	if _, err := p.local.Exec(t.Context(), "select 1/0"); err == nil {
		t.Fatal("no error")
	}
	run(t, p.local, "commit") // the transaction has failed, so this is a rollback
	want(t, p.remote, waiting, "2 3 4 6")
}

// TestTriggersAndSelect checks that a local trigger posts for each row, and that a select consumes
// one message, which a rollback returns.
func TestTriggersAndSelect(t *testing.T) {
	p := setUp(t, "")
	run(t, p.local, "create table shop_orders (n int)", `create function announce() returns trigger language plpgsql as $$
		begin insert into orders_p (data, properties) values (hstore('n', new.n::text), 'kind=>new'); return new; end $$`,
		"create trigger announce after insert on shop_orders for each row execute function announce()",
		"insert into shop_orders select generate_series(1, 3)")
	want(t, p.remote, waiting, "1 2 3")
	run(t, p.local, "begin")
	want(t, p.local, "select data->'n' from orders", "1")
	want(t, p.local, "select data->'n' || (properties->'kind') from orders_p", "2new")
	run(t, p.local, "rollback")
	want(t, p.remote, waiting, "1 2 3")
	want(t, p.local, "select data->'n' from orders", "1")
	want(t, p.local, "select (data->'n') from orders_p where properties ? 'kind' limit 1", "2")
	want(t, p.remote, waiting, "3")
	run(t, p.local, "insert into orders_p values ('n=>later', null, '2101-01-01', null), ('n=>over', null, null, '2001-01-01')")
	want(t, p.remote, "select data->'n' from mbus4.messages('orders') where delayed_until > now()", "later")
	want(t, p.local, "insert into orders values ('n=>back') returning data->'n'", "back")
}

// TestBatchesAndImport sends many rows in one statement with batch_size, and uses tables imported
// from the broker's catalogs.
func TestBatchesAndImport(t *testing.T) {
	p := setUp(t, ", batch_size '50', extensions 'hstore'")
	run(t, p.local, "insert into orders select hstore('n', n::text) from generate_series(1, 120) n")
	want(t, p.remote, "select count(*)::text from mbus4.messages('orders')", "120")
	want(t, p.remote, "select count(*)::text from mbus4.consumen_orders_by_default(120)", "120")
	run(t, p.local, "create schema imported", "import foreign schema public limit to (orders_p) from server fiveways into imported",
		"insert into imported.orders_p (data) values ('n=>1')")
	want(t, p.local, "select data->'n' from imported.orders_p", "1")
}

// TestNothingIsTakenBeside checks that the statements that postgres_fdw adds to the user's (for
// plans, for ANALYZE, for imports of tables) consume nothing, and that rows that PostgreSQL reads
// again are not consumed again.
func TestNothingIsTakenBeside(t *testing.T) {
	p := setUp(t, ", extensions 'hstore'")
	run(t, p.local, "insert into orders select hstore('n', n::text) from generate_series(1, 5) n")
	all := func(expected string) {
		t.Helper()
		want(t, p.remote, "select count(*)::text from mbus4.messages('orders')", expected)
	}
	_, err := p.local.Exec(t.Context(), "analyze orders")
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != "0A000" || !strings.Contains(refused.Message, `ANALYZE of a foreign table over the view "orders_q"`) {
		t.Errorf("analyze: %v", err)
	}
	all("5")
	run(t, p.local, "analyze", "explain select * from orders", "explain (verbose, format json) select * from orders",
		"create schema imported", "import foreign schema public from server fiveways into imported")
	all("5")
	run(t, p.local, "alter server fiveways options (add use_remote_estimate 'true')", "explain select * from orders where data->'n' = '1' order by data",
		"prepare s as select * from orders", "explain execute s", "begin", "declare c cursor for select * from orders", "close c", "commit")
	all("5")
	run(t, p.local, "explain analyze select * from orders")
	all("4")
	run(t, p.local, "create table kept as select * from orders", "insert into kept select * from orders")
	all("2")
	want(t, p.local, "select data->'n' from kept", "2 3")
	want(t, p.local, "select (select data->'n' from orders where g > 0) from generate_series(1, 3) g", "4 4 4")
	want(t, p.local, "select data->'n' from orders where false", "")
	all("1")
	run(t, p.local, "create schema markup", "create type markup.semaphore_status as enum ('WAIT', 'ACQUIRED', 'TRY_RELEASE')",
		"import foreign schema markup from server fiveways into markup", "analyze markup.semaphore")
}

// TestDblink calls every function through dblink. A separate connection has its own transaction.
func TestDblink(t *testing.T) {
	p := setUp(t, "")
	const call = "select iid from dblink('fiveways', $$select mbus4.post('orders', 'n=>1')$$) as r(iid text)"
	run(t, p.local, call, call)
	want(t, p.local, "select data->'n' from dblink('fiveways', $$select data from mbus4.consume('orders')$$) as r(data hstore)", "1")
	run(t, p.local, "select dblink_connect('c', 'fiveways')", "select dblink_exec('c', 'begin')")
	want(t, p.local, "select data->'n' from dblink('c', $$select data from mbus4.consume('orders')$$) as r(data hstore)", "1")
	want(t, p.remote, "select data->'n' from mbus4.consume('orders')", "")
	run(t, p.local, "select dblink_exec('c', 'rollback')")
	want(t, p.remote, waiting, "1")
	run(t, p.local, "select dblink_disconnect('c')")
	_, err := p.local.Exec(t.Context(), "select * from dblink('fiveways', $$select mbus4.post('none', 'n=>1')$$) as r(iid text)")
	if err == nil || !strings.Contains(err.Error(), "Unknown queue:none") {
		t.Errorf("the error of the broker: %v", err)
	}
}
