package semaphore

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fiveways.dev/fiveways/internal/core/semaphore"
	"fiveways.dev/fiveways/internal/sqlschema"
	"fiveways.dev/fiveways/test/postgres"
)

// TestPostgreSQL runs the scripts on the functions in a real PostgreSQL.
func TestPostgreSQL(t *testing.T) {
	s := startPostgres(t)
	playAll(t, func(*testing.T) side { s.clear(); return s })
}

// sqlSide is a server with the functions semaphore.*. take returns and removes the new events.
type sqlSide struct {
	t    testing.TB
	ctx  context.Context
	conn *pgx.Conn
	take func() []event
}

func startPostgres(t testing.TB) *sqlSide {
	dsn := postgres.Start(t, postgres.Options{Database: "semaphores"})
	if _, err := sqlschema.InstallSemaphores(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	s := connect(t, dsn)
	s.take = s.takeEvents
	return s
}

func connect(t testing.TB, dsn string) *sqlSide {
	conn, err := pgx.Connect(t.Context(), dsn)
	must(t, err)
	t.Cleanup(func() { conn.Close(context.Background()) }) //nolint:errcheck // the server may have exited first
	return &sqlSide{t: t, ctx: t.Context(), conn: conn}
}

// takeEvents returns and removes the events in the table of a real PostgreSQL.
func (s *sqlSide) takeEvents() []event {
	rows, err := s.conn.Query(s.ctx, "select key, task::text, event, coalesce(status::text, '') as status, priority, seq from semaphore.events()")
	if err != nil {
		s.t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[event])
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// clear removes all semaphores.
func (s *sqlSide) clear() {
	if _, err := s.conn.Exec(s.ctx, "select semaphore.drop(key) from markup.semaphore"); err != nil {
		s.t.Fatal(err)
	}
	s.take()
}

// ask returns the first column of a query, and the error in the words of this package.
func ask[T any](s *sqlSide, query string, args ...any) ([]T, error) {
	rows, err := s.conn.Query(s.ctx, query, args...)
	if err != nil {
		return nil, word(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[T])
	return all, word(err)
}

func word(err error) error {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		switch e.Code {
		case "P0002":
			return errNotFound
		case "22023":
			return errInvalid
		case "23503":
			return errNotEmpty
		}
	}
	return err
}

func (s *sqlSide) create(key string, set settings) (active, tryRelease int, err error) {
	err = s.conn.QueryRow(s.ctx, "select active, try_release from semaphore.get_or_create($1, $2, $3)", key, set.active, set.tryRelease).Scan(&active, &tryRelease)
	return active, tryRelease, word(err)
}

func (s *sqlSide) update(key string, set settings) error {
	_, err := s.conn.Exec(s.ctx, "select semaphore.update($1, $2, $3)", key, set.active, set.tryRelease)
	return word(err)
}

func (s *sqlSide) drop(key string, ifEmpty bool) (there bool, err error) {
	if ifEmpty {
		done, err := s.conn.Exec(s.ctx, "delete from markup.semaphore where key = $1", key)
		return done.RowsAffected() > 0, word(err)
	}
	err = s.conn.QueryRow(s.ctx, "select semaphore.drop($1)", key).Scan(&there)
	return there, word(err)
}

func (s *sqlSide) enqueue(key string, entries []semaphore.Task) (statuses []semaphore.Status, err error) {
	var tasks []string
	var priorities []float64
	for _, e := range entries {
		tasks, priorities = append(tasks, e.ID), append(priorities, e.Priority)
	}
	names, err := ask[string](s, "select * from semaphore.enqueue_all($1, $2::text[]::bigint[], $3)", key, tasks, priorities)
	for _, name := range names {
		st, ok := semaphore.ParseStatus(name)
		if !ok {
			s.t.Fatalf("status %q", name)
		}
		statuses = append(statuses, st)
	}
	return statuses, err
}

func (s *sqlSide) release(key string, tasks []string) (n int, err error) {
	err = s.conn.QueryRow(s.ctx, "select semaphore.release_all($1, $2::text[]::bigint[])", key, tasks).Scan(&n)
	return n, word(err)
}

func (s *sqlSide) status(key, task string) (status semaphore.Status, there bool, err error) {
	var name *string
	if err := s.conn.QueryRow(s.ctx, "select semaphore.status($1, $2::text::bigint)::text", key, task).Scan(&name); err != nil || name == nil {
		return 0, false, word(err)
	}
	status, there = semaphore.ParseStatus(*name)
	return status, there, nil
}

func (s *sqlSide) tasks(key string, only *semaphore.Status) (all []semaphore.Task, err error) {
	var name *string
	if only != nil {
		n := only.String()
		name = &n
	}
	rows, err := s.conn.Query(s.ctx, "select task_id::text, priority, status::text from semaphore.tasks($1, $2::text::markup.semaphore_status)", key, name)
	if err != nil {
		return nil, word(err)
	}
	var task semaphore.Task
	var status string
	_, err = pgx.ForEachRow(rows, []any{&task.ID, &task.Priority, &status}, func() error {
		task.Status, _ = semaphore.ParseStatus(status)
		all = append(all, task)
		return nil
	})
	return all, word(err)
}

func (s *sqlSide) events() []event { return s.take() }
