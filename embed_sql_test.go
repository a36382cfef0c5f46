package fiveways_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"fiveways"
)

// TestSQLInProcess: an embedded broker serves SQL when it is told where.
func TestSQLInProcess(t *testing.T) {
	b, err := fiveways.Start(fiveways.Options{Data: t.TempDir(), SQL: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Stop(context.Background())
	c, err := pgx.Connect(t.Context(), b.SQLURL())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	if _, err := c.Exec(t.Context(), "select mbus4.create_queue('q', 1); select mbus4.post('q', 'a=>1')"); err != nil {
		t.Fatal(err)
	}
	var got string
	if err := c.QueryRow(t.Context(), "select data->'a' from mbus4.consume('q')").Scan(&got); err != nil || got != "1" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestSQLIsOffUnlessAskedFor: who embeds a broker opens no port without knowing.
func TestSQLIsOffUnlessAskedFor(t *testing.T) {
	b, err := fiveways.Start(fiveways.Options{Data: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Stop(context.Background())
	if url := b.SQLURL(); url != "" {
		t.Errorf("SQL is served at %s", url)
	}
}
