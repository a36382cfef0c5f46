package semaphore

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fiveways.dev/fiveways/internal/sqlschema"
	"fiveways.dev/fiveways/test/postgres"
)

func quick(url string) Options {
	o := DefaultOptions()
	o.URL, o.Active, o.Waiting, o.Rate, o.Duration = url, 20, 400, 200, 500*time.Millisecond
	return o
}

// check compares the parts of a result that do not depend on timing.
func check(t *testing.T, r Result, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Loads) != len(LoadNames()) {
		t.Errorf("%d loads", len(r.Loads))
	}
	for _, l := range r.Loads {
		if l.Count == 0 || l.P50 <= 0 || l.P99 < l.P50 || l.Max < l.P99 {
			t.Errorf("%+v", l)
		}
	}
}

func TestFunctionsInPostgreSQL(t *testing.T) {
	dsn := postgres.Start(t, postgres.Options{})
	if _, err := sqlschema.InstallSemaphores(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), quick(dsn), nil)
	if check(t, r, err); !strings.HasPrefix(r.Server, "PostgreSQL 1") || !strings.HasSuffix(r.Server, "functions semaphore.*") {
		t.Errorf("server %q", r.Server)
	}
	if left := count(t, dsn, "select count(*) from markup.semaphore"); left != 0 {
		t.Errorf("%d semaphores are left", left)
	}
}

func TestSweep(t *testing.T) {
	dsn := postgres.Start(t, postgres.Options{})
	o := quick(dsn)
	o.Sweep = 100 * time.Millisecond
	r, err := Run(t.Context(), o, nil)
	check(t, r, err)
	if !strings.HasSuffix(r.Server, "with a sweep every 100ms") {
		t.Errorf("server %q", r.Server)
	}
	if left := count(t, dsn, "select count(*) from pg_namespace where nspname = 'fiveways_bench'"); left != 0 {
		t.Error("the tables are left")
	}
}

func TestInterruptedRunLeavesNothing(t *testing.T) {
	dsn := postgres.Start(t, postgres.Options{})
	o := quick(dsn)
	o.Sweep, o.Duration, o.Rate = time.Hour, time.Hour, 1000 // it will starve
	ctx, cancel := context.WithCancel(t.Context())
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer closeSQL(conn)
	if _, err := conn.Exec(t.Context(), "listen fiveways_bench"); err != nil {
		t.Fatal(err)
	}
	go func() {
		conn.WaitForNotification(ctx) //nolint:errcheck // an error ends the run as well
		cancel()
	}()
	if _, err := Run(ctx, o, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left := count(t, dsn, "select count(*) from pg_namespace where nspname = 'fiveways_bench'"); left != 0 {
		t.Error("the tables are left")
	}
}

func count(t *testing.T, dsn, query string) (n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer closeSQL(conn)
	if err := conn.QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestValidate(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"postgres:// or":   func(o *Options) { o.URL = "amqp://127.0.0.1" },
		"sweep":            func(o *Options) { o.Sweep = time.Second },
		"no load is named": func(o *Options) { o.Loads = nil },
		"there is no load": func(o *Options) { o.Loads = []string{"drink"} },
		"active":           func(o *Options) { o.Active = 0 },
		"waiting":          func(o *Options) { o.Waiting = -1 },
		"clients":          func(o *Options) { o.Clients = 0 },
		"rate":             func(o *Options) { o.Rate = 0 },
		"duration":         func(o *Options) { o.Duration = 0 },
	} {
		o := DefaultOptions()
		change(&o)
		if err := o.Validate(); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), strings.Fields(name)[0]) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := DefaultOptions().Validate(); err != nil {
		t.Error(err)
	}
}
