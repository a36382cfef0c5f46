package fiveways_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"fiveways.dev/fiveways"
)

// TestSQLInProcess checks that an embedded broker serves SQL if it is given an address.
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

// TestSQLIsOffUnlessAskedFor checks that an embedded broker opens no SQL port by default.
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

// TestStopAgain checks that a second Stop waits no longer than its own context.
func TestStopAgain(t *testing.T) {
	b, err := fiveways.Start(fiveways.Options{Data: t.TempDir(), SQL: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	busy, err := pgx.Connect(t.Context(), b.SQLURL())
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close(context.Background()) //nolint:errcheck // the broker has closed it
	if _, err := busy.Exec(t.Context(), "begin"); err != nil {
		t.Fatal(err)
	}
	first := make(chan error, 1)
	go func() { first <- b.Stop(context.Background()) }() // waits for the open transaction
	idle, err := pgx.Connect(t.Context(), b.SQLURL())
	for ; err == nil; idle, err = pgx.Connect(t.Context(), b.SQLURL()) { // until Stop has begun
		idle.Close(context.Background()) //nolint:errcheck // as above
	}
	over, end := context.WithCancel(t.Context())
	end()
	second := b.Stop(over)
	if got := <-first; !errors.Is(second, context.Canceled) || !errors.Is(got, context.Canceled) {
		t.Errorf("the first: %v, the second: %v; want that connections were closed by force", got, second)
	}
	if err := b.Stop(t.Context()); !errors.Is(err, context.Canceled) {
		t.Errorf("afterwards: %v", err)
	}
}
