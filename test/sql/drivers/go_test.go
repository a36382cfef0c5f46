package drivers

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/lib/pq"
)

// hurry is the time after which a statement is canceled.
const hurry = 200 * time.Millisecond

func pgxConnect(t *testing.T, s target, mode pgx.QueryExecMode) *pgx.Conn {
	t.Helper()
	cfg, err := pgx.ParseConfig(s.url)
	must(t, err)
	cfg.DefaultQueryExecMode = mode
	c, err := pgx.ConnectConfig(t.Context(), cfg)
	must(t, err)
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

// withPgx uses pgx itself with each of its ways to run a statement.
func withPgx(t *testing.T, s target) {
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	} {
		t.Run(mode.String(), func(t *testing.T) {
			c := pgxConnect(t, s, mode)
			name := "with_pgx_" + fmt.Sprint(int(mode))
			pgxQueue(t, c, name)
			pgxTypes(t, c)
			pgxErrors(t, c)
		})
	}
	c := pgxConnect(t, s, pgx.QueryExecModeCacheStatement)
	pgxBatch(t, c)
	pgxCopy(t, c)
	pgxCancel(t, c)
	if s.app == "" {
		return
	}
	app, err := pgx.Connect(t.Context(), s.app)
	must(t, err)
	app.Close(t.Context())
	_, err = pgx.Connect(t.Context(), strings.Replace(s.app, "secret", "wrong", 1))
	wantState(t, err, "28P01")
}

func execute(t *testing.T, c *pgx.Conn, statement string, args ...any) {
	t.Helper()
	if _, err := c.Exec(t.Context(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// registerHstore registers hstore as pgx's manual says, and loads the types based on it.
func registerHstore(t *testing.T, c *pgx.Conn) {
	t.Helper()
	var oid uint32
	must(t, c.QueryRow(t.Context(), "select oid from pg_type where typname = $1", "hstore").Scan(&oid))
	c.TypeMap().RegisterType(&pgtype.Type{Name: "hstore", OID: oid, Codec: pgtype.HstoreCodec{}})
	for _, name := range []string{"_hstore", "mbus4.qt_model"} {
		made, err := c.LoadType(t.Context(), name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		c.TypeMap().RegisterType(made)
	}
}

// pgxQueue posts, consumes, rolls back and commits.
func pgxQueue(t *testing.T, c *pgx.Conn, name string) {
	t.Helper()
	ctx := t.Context()
	registerHstore(t, c)
	execute(t, c, "select mbus4.create_queue($1, 64)", name)
	value, null := "v ü \"'\\", (*string)(nil)
	data := pgtype.Hstore{"k": &value, "null": null}
	var iid string
	if err := c.QueryRow(ctx, "select mbus4.post($1, $2)", name, data).Scan(&iid); err != nil || !strings.HasPrefix(iid, name+".") {
		t.Fatal(iid, err)
	}
	for _, commit := range []bool{false, true} {
		tx, err := c.Begin(ctx)
		must(t, err)
		var got pgtype.Hstore
		var found string
		var added time.Time
		err = tx.QueryRow(ctx, "select iid, data, added from mbus4.consume($1)", name).Scan(&found, &got, &added)
		if err != nil || found != iid || !maps.EqualFunc(got, data, equalText) || added.Year() < 2024 {
			t.Fatalf("%s %v %s %v", found, got, added, err)
		}
		if commit {
			err = tx.Commit(ctx)
		} else {
			err = tx.Rollback(ctx)
		}
		must(t, err)
	}
	var left int
	if err := c.QueryRow(ctx, "select count(*) from mbus4.consume($1)", name).Scan(&left); err != nil || left != 0 {
		t.Fatalf("%d are left, %v", left, err)
	}
	for i := range 10 {
		execute(t, c, "select mbus4.post($1, hstore('n', $2))", name, fmt.Sprint(i))
	}
	rows, err := c.Query(ctx, "select data->'n' from mbus4.consumen_"+name+"_by_default($1)", 100)
	must(t, err)
	if all, err := pgx.CollectRows(rows, pgx.RowTo[string]); err != nil || strings.Join(all, "") != "0123456789" {
		t.Fatal(all, err)
	}
	execute(t, c, "select mbus4.drop_queue($1)", name)
}

func equalText(a, b *string) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }

func pgxTypes(t *testing.T, c *pgx.Conn) {
	t.Helper()
	var (
		i      int32
		b      int64
		f      float64
		text   string
		truth  bool
		ints   []int32
		moment time.Time
		nil_   *string
	)
	when := time.Date(2024, 2, 29, 12, 0, 0, 500000000, time.UTC)
	err := c.QueryRow(t.Context(), "select $1::int, $2::bigint, $3::float8, $4::text, $5::bool, $6::int[], $7::timestamptz, $8::text",
		int32(1), int64(1)<<40, 0.1, "ü", true, []int32{1, 2, 3}, when, nil).Scan(&i, &b, &f, &text, &truth, &ints, &moment, &nil_)
	if err != nil || i != 1 || b != 1<<40 || f != 0.1 || text != "ü" || !truth || !slices.Equal(ints, []int32{1, 2, 3}) || !moment.Equal(when) || nil_ != nil {
		t.Error(i, b, f, text, truth, ints, moment, nil_, err)
	}
}

func pgxErrors(t *testing.T, c *pgx.Conn) {
	t.Helper()
	for statement, state := range map[string]string{
		"select mbus4.post('no_such_queue', 'a=>1')": "P0001", "select 1/0": "22012", "select * frm x": "42601", "select * from no_such_table": "42P01",
		"select no_such_function()": "42883", "select 'x'::int": "22P02",
	} {
		_, err := c.Exec(t.Context(), statement)
		wantState(t, err, state)
	}
	tx, err := c.Begin(t.Context())
	must(t, err)
	_, err = tx.Exec(t.Context(), "select 1/0")
	wantState(t, err, "22012")
	_, err = tx.Exec(t.Context(), "select 1")
	wantState(t, err, "25P02")
	if err := tx.Commit(t.Context()); !errors.Is(err, pgx.ErrTxCommitRollback) {
		t.Errorf("commit of a failed transaction: %v", err)
	}
}

func wantState(t *testing.T, err error, state string) {
	t.Helper()
	var e *pgconn.PgError
	if !errors.As(err, &e) || e.Code != state {
		t.Errorf("%v, want %s", err, state)
	}
}

// pgxBatch sends many statements in one batch and reads many results lazily.
func pgxBatch(t *testing.T, c *pgx.Conn) {
	t.Helper()
	execute(t, c, "select mbus4.create_queue('with_pgx_batch', 64)")
	b := &pgx.Batch{}
	for i := range 100 {
		b.Queue("select mbus4.post('with_pgx_batch', hstore('n', $1))", fmt.Sprint(i))
	}
	must(t, c.SendBatch(t.Context(), b).Close())
	b = &pgx.Batch{}
	b.Queue("select mbus4.post('with_pgx_batch', 'n=>lost')")
	b.Queue("select 1/0")
	wantState(t, c.SendBatch(t.Context(), b).Close(), "22012")
	var n int
	if err := c.QueryRow(t.Context(), "select count(*) from mbus4.consumen_with_pgx_batch_by_default(1000)").Scan(&n); err != nil || n != 100 {
		t.Errorf("%d messages, %v", n, err) // a batch is one transaction
	}
	execute(t, c, "select mbus4.drop_queue('with_pgx_batch')")
	rows, err := c.Query(t.Context(), "select i from generate_series(1, 20000) i")
	must(t, err)
	if all, err := pgx.CollectRows(rows, pgx.RowTo[int]); err != nil || len(all) != 20000 || all[19999] != 20000 {
		t.Error(len(all), err)
	}
}

// pgxCopy posts with CopyFrom, which supports only the binary format, and reads with COPY.
func pgxCopy(t *testing.T, c *pgx.Conn) {
	t.Helper()
	ctx := t.Context()
	execute(t, c, "select mbus4.create_queue('with_pgx_copy', 64)")
	execute(t, c, "select mbus4.create_view_prop('with_pgx_copy')")
	registerHstore(t, c)
	view, columns := pgx.Identifier{"with_pgx_copy_q"}, []string{"data", "properties"}
	var rows [][]any
	for i := range 1000 {
		n := fmt.Sprint(i)
		rows = append(rows, []any{pgtype.Hstore{"n": &n, "null": nil}, nil})
	}
	if n, err := c.CopyFrom(ctx, view, columns, pgx.CopyFromRows(rows)); n != 1000 || err != nil {
		t.Fatal(n, err)
	}
	_, err := c.CopyFrom(ctx, view, columns, pgx.CopyFromFunc(func() ([]any, error) { return nil, errors.New("no more") }))
	wantState(t, err, "57014")
	var out strings.Builder
	tag, err := c.PgConn().CopyTo(ctx, &out, "copy (select data->'n' from mbus4.consumen_with_pgx_copy_by_default(2000)) to stdout")
	if lines := strings.Fields(out.String()); err != nil || tag.String() != "COPY 1000" || lines[0] != "0" || lines[999] != "999" {
		t.Fatal(tag, err, lines)
	}
	execute(t, c, "select mbus4.drop_queue('with_pgx_copy')")
}

func pgxCancel(t *testing.T, c *pgx.Conn) {
	t.Helper()
	timer := time.AfterFunc(hurry, func() { c.PgConn().CancelRequest(context.Background()) }) //nolint:errcheck // the statement tells
	defer timer.Stop()
	_, err := c.Exec(t.Context(), "select pg_sleep(60)")
	wantState(t, err, "57014")
	// PostgreSQL signals a backend twice; the second signal may cancel what comes next.
	if _, err := c.Exec(t.Context(), "select pg_sleep(0.1)"); err != nil {
		wantState(t, err, "57014")
	}
	execute(t, c, "select 1")
	execute(t, c, "set statement_timeout = 50")
	_, err = c.Exec(t.Context(), "select pg_sleep(60)")
	wantState(t, err, "57014")
}

func withStdlib(t *testing.T, s target) { withDatabaseSQL(t, s, "pgx") }

// withLibPQ also checks lib/pq's error values.
func withLibPQ(t *testing.T, s target) {
	withDatabaseSQL(t, s, "postgres")
	db := openDB(t, s.url, "postgres")
	_, err := db.ExecContext(t.Context(), "select * frm x")
	var e *pq.Error
	if !errors.As(err, &e) || e.Code != "42601" || e.Position != "10" {
		t.Errorf("%+v", err)
	}
	pqCopy(t, db)
	if s.app != "" {
		if err := openDB(t, s.app, "postgres").PingContext(t.Context()); err != nil {
			t.Error(err)
		}
		err := openDB(t, strings.Replace(s.app, "secret", "wrong", 1), "postgres").PingContext(t.Context())
		if !errors.As(err, &e) || e.Code != "28P01" {
			t.Error(err)
		}
	}
}

// pqCopy posts with CopyIn.
func pqCopy(t *testing.T, db *sql.DB) {
	t.Helper()
	_, err := db.ExecContext(t.Context(), "select mbus4.create_queue('with_pq_copy', 64); select mbus4.create_view('with_pq_copy')")
	must(t, err)
	tx, err := db.BeginTx(t.Context(), nil)
	must(t, err)
	//lint:ignore SA1019 programs that use lib/pq have it
	in, err := tx.PrepareContext(t.Context(), pq.CopyIn("with_pq_copy_q", "data"))
	must(t, err)
	for _, data := range []string{"n=>1", `n=>"a\tb"`, ""} {
		_, err := in.ExecContext(t.Context(), data)
		must(t, err)
	}
	_, err = in.ExecContext(t.Context())
	must(t, errors.Join(err, in.Close(), tx.Commit()))
	var n int
	must(t, db.QueryRowContext(t.Context(), "select count(*) from mbus4.consumen_with_pq_copy_by_default(10)").Scan(&n))
	if n != 3 {
		t.Errorf("%d messages", n)
	}
	_, err = db.ExecContext(t.Context(), "select mbus4.drop_queue('with_pq_copy')")
	must(t, err)
}

func openDB(t *testing.T, url, driver string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, url)
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

func withDatabaseSQL(t *testing.T, s target, driverName string) {
	db := openDB(t, s.url, driverName)
	ctx := t.Context()
	name := "with_" + driverName
	_, err := db.ExecContext(ctx, "select mbus4.create_queue($1, 64)", name)
	must(t, err)
	post, err := db.PrepareContext(ctx, "select mbus4.post($1, hstore('n', $2::text))")
	must(t, err)
	for i := range 10 {
		var iid string
		must(t, post.QueryRowContext(ctx, name, fmt.Sprint(i)).Scan(&iid))
	}
	for _, level := range []sql.IsolationLevel{sql.LevelDefault, sql.LevelSerializable} {
		tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: level})
		must(t, err)
		rows, err := tx.QueryContext(ctx, "select data->'n', added, headers->'none' from mbus4.consumen_"+name+"_by_default($1)", 5)
		must(t, err)
		all := ""
		for rows.Next() {
			var n string
			var added time.Time
			var none sql.NullString
			must(t, rows.Scan(&n, &added, &none))
			all += n
			if none.Valid || added.Year() < 2024 {
				t.Error(none, added)
			}
		}
		must(t, rows.Err())
		if all != "01234" {
			t.Errorf("consumed %s", all)
		}
		must(t, tx.Rollback())
	}
	if _, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}); err != nil {
		t.Error(err)
	}
	var n int
	must(t, db.QueryRowContext(ctx, "select count(*) from mbus4.consumen_"+name+"_by_default(100)").Scan(&n))
	if n != 10 {
		t.Errorf("%d messages", n)
	}
	quick, cancel := context.WithTimeout(ctx, hurry)
	defer cancel()
	if _, err := db.ExecContext(quick, "select pg_sleep(60)"); err == nil || errors.Is(err, driver.ErrBadConn) {
		t.Errorf("canceled: %v", err)
	}
	_, err = db.ExecContext(ctx, "select mbus4.drop_queue($1)", name)
	must(t, err)
}
