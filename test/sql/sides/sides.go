// Package sides has what tests share that send the same statements to two sides: to a session in
// this process, and to PostgreSQL.
package sides

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
	"fiveways.dev/fiveways/test/postgres"
)

// Work is a sql.Work without effects.
type Work struct{}

func (Work) Begin(bool)                   {}
func (Work) Commit(context.Context) error { return nil }
func (Work) Rollback()                    {}
func (Work) Savepoint() int               { return 0 }
func (Work) RollbackTo(int)               {}
func (Work) Close()                       {}

// Options are those of a session that has nothing but these schemas.
func Options(schemas ...schema.Schema) sql.Options {
	return sql.Options{User: "postgres", Database: "postgres", Work: Work{}, Schemas: schemas}
}

// Start starts a PostgreSQL, which ends with the test, and executes the statements of setUp. It
// returns the connection that executed them, and the address for further ones.
func Start(t testing.TB, setUp string) (c *pgconn.PgConn, dsn string) {
	t.Helper()
	dsn = postgres.Start(t, postgres.Options{LogTo: filepath.Join(t.TempDir(), "log")})
	c = Connect(t, dsn)
	if _, err := c.Exec(context.Background(), setUp).ReadAll(); err != nil {
		t.Fatal(err)
	}
	return c, dsn
}

// Connect opens a connection, which ends with the test.
func Connect(t testing.TB, dsn string) *pgconn.PgConn {
	t.Helper()
	c, err := pgconn.Connect(context.Background(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// Hijack takes the connection over, to send messages one by one. It ends with the test.
func Hijack(t testing.TB, c *pgconn.PgConn) *pgconn.HijackedConn {
	t.Helper()
	h, err := c.Hijack()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Conn.Close() })
	return h
}

// Theirs formats a row of PostgreSQL: its values with | between them, and null for NULL.
func Theirs(row [][]byte, null string) string {
	values := make([]string, len(row))
	for i, v := range row {
		if values[i] = null; v != nil {
			values[i] = string(v)
		}
	}
	return strings.Join(values, "|")
}

// Ours formats a row of a session in the same way.
func Ours(columns []value.Field, row []value.Datum, set *value.Settings, null string) string {
	values := make([]string, len(row))
	for i, d := range row {
		if values[i] = null; d != nil {
			values[i] = value.String(columns[i].Type, d, set)
		}
	}
	return strings.Join(values, "|")
}
