package sqlschema

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"fiveways.dev/fiveways/test/postgres"

	"github.com/jackc/pgx/v5"
)

// seedTables creates tables from before an installation, with tasks.
const seedTables = `create schema markup;
	create table markup.task (id bigint primary key);
	create table markup.semaphore (id serial primary key, key text not null, active int not null default 1000, try_release int not null default 900);
	create unique index ix_semaphore on markup.semaphore (key);
	create type markup.semaphore_status as enum ('WAIT', 'ACQUIRED', 'TRY_RELEASE');
	create table markup.semaphore_task (semaphore_id int not null references markup.semaphore (id), task_id bigint not null references markup.task (id),
		priority double precision not null, status markup.semaphore_status not null default 'WAIT', enqueued timestamptz not null default now(),
		primary key (semaphore_id, task_id));
	create index ix_semaphore_task_wait on markup.semaphore_task (semaphore_id, priority);
	create index ix_semaphore_task_active on markup.semaphore_task (semaphore_id, priority) where status in ('ACQUIRED', 'TRY_RELEASE');
	insert into markup.task select generate_series(1, 9);
	insert into markup.semaphore (key, active, try_release) values ('old', 2, 1);
	insert into markup.semaphore_task (semaphore_id, task_id, priority) select 1, id, id from markup.task;
	update markup.semaphore_task set status = 'ACQUIRED' where task_id in (1, 9)`

// Existing tables are reused: their tasks are settled by the rule, and the indexes get the complete
// order.
func TestSemaphoresTakeOver(t *testing.T) {
	dsn := postgres.Start(t, postgres.Options{Database: "fiveways"})
	conn := connect(t, dsn)
	run(t, conn, seedTables)
	for before := range 2 {
		r, err := InstallSemaphores(t.Context(), dsn)
		if err != nil || r.Before != before || !r.Tasks {
			t.Fatalf("report %+v, %v", r, err)
		}
		for _, tc := range []struct{ query, want string }{
			{"select string_agg(task_id || ' ' || status, ', ' order by task_id desc) from markup.semaphore_task where status <> 'WAIT'", "9 ACQUIRED, 1 TRY_RELEASE"},
			{"select string_agg(event || ' ' || task, ', ' order by id) from semaphore.event", "TryRelease 1"},
			{"select count(*) from pg_indexes where schemaname = 'markup' and indexname ~ '^ix_semaphore_task' and indexdef ~ 'priority DESC, enqueued, task_id'", "2"},
			{"select transitions from semaphore.progress", "1"},
		} {
			if got := ask(t, conn, tc.query); got != tc.want {
				t.Errorf("%s: %s, want %s", tc.query, got, tc.want)
			}
		}
	}
	if _, err := conn.Exec(t.Context(), "select semaphore.enqueue('old', 10, 1)"); code(err) != "23503" {
		t.Errorf("a task that is not in markup.task: %v", err)
	}
	run(t, conn, "drop schema semaphore cascade", "update markup.semaphore set active = 3", "insert into markup.semaphore (key) values ('new')")
}

// A table of tasks that exists when the tables are created is referenced.
func TestSemaphoresReferToTasks(t *testing.T) {
	server := postgres.Run(t, postgres.Options{})
	run(t, connect(t, server.DSN()), "create database with_tasks", "create database without")
	for database, before := range map[string]string{"with_tasks": "create schema markup; create table markup.task (id bigint primary key)", "without": ""} {
		dsn := fmt.Sprintf("postgres://%s@127.0.0.1:%d/%s?sslmode=disable", postgres.Superuser, server.Port(), database)
		run(t, connect(t, dsn), before)
		if r, err := InstallSemaphores(t.Context(), dsn); err != nil || r.Tasks != (before != "") {
			t.Errorf("%s: report %+v, %v", database, r, err)
		}
	}
}

// Statements on markup.semaphore have the same effect as the functions.
func TestSemaphoreStatements(t *testing.T) {
	dsn := postgres.Start(t, postgres.Options{Database: "fiveways"})
	if _, err := InstallSemaphores(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, dsn)
	run(t, conn, "insert into markup.semaphore (key, active) values ('k', 1)", "select semaphore.enqueue_all('k', array[1, 2, 3], array[1, 2, 3])", "listen semaphore")
	run(t, conn, "update markup.semaphore set active = 2 where key = 'k'")
	if got := ask(t, conn, "select string_agg(event || ' ' || task, ', ' order by id) from semaphore.event"); got != "Acquired 3, Acquired 2" {
		t.Errorf("events %s", got)
	}
	n, err := conn.WaitForNotification(t.Context())
	if want := `{"key" : "k", "task" : "2", "event" : "Acquired", "status" : "ACQUIRED", "priority" : 2, "seq" : 2}`; err != nil || n.Payload != want {
		t.Errorf("notification %+v, %v, want %s", n, err, want)
	}
	if got := ask(t, conn, "select string_agg(event || ' ' || task, ', ') from semaphore.events(1)"); got != "Acquired 3" {
		t.Errorf("took %s", got)
	}
	if got := ask(t, conn, "select string_agg(event || ' ' || task, ', ') from semaphore.events()"); got != "Acquired 2" {
		t.Errorf("took %s", got)
	}
	for sql, want := range map[string]string{
		"update markup.semaphore set active = -1":                        "22023",
		"insert into markup.semaphore (key, try_release) values ('', 1)": "22023",
		"insert into markup.semaphore (key) values (repeat('k', 201))":   "22023",
		"select semaphore.get_or_create(null)":                           "22004",
		"select semaphore.enqueue('nobody', 1, 1)":                       "P0002",
		"select semaphore.enqueue('k', null::bigint, 1)":                 "22004",
		"select semaphore.enqueue('k', 1, null)":                         "22004",
		"select semaphore.enqueue('k', 1, 'NaN')":                        "22023",
		"select semaphore.enqueue('k', 1, 'Infinity')":                   "22023",
		"select semaphore.enqueue_all('k', array[1, 2], array[1.0])":     "22023",
		"select semaphore.release('k', null::bigint)":                    "22004",
		"select semaphore.status('k', null)":                             "22004",
		"select semaphore.status(null, 1)":                               "22004",
		"delete from markup.semaphore":                                   "23503",
	} {
		if _, err := conn.Exec(t.Context(), sql); code(err) != want {
			t.Errorf("%s: %v, want %s", sql, err, want)
		}
	}
}

// However many callers enqueue and release concurrently, never more than active tasks run, and the
// numbers of the events have no gaps.
func TestSemaphoresAtOnce(t *testing.T) {
	const active, workers, rounds = 3, 8, 40
	dsn := postgres.Start(t, postgres.Options{Database: "fiveways"})
	if _, err := InstallSemaphores(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, dsn)
	run(t, conn, fmt.Sprintf("select semaphore.get_or_create('k', %d, 2)", active))
	var all sync.WaitGroup
	for w := range workers {
		c := connect(t, dsn)
		all.Go(func() {
			for i := range rounds {
				task := int64(w*rounds + i)
				if _, err := c.Exec(t.Context(), "select semaphore.enqueue('k', $1, $2)", task, float64((w*7+i*5)%11)); err != nil {
					t.Error(err)
				}
				if _, err := c.Exec(t.Context(), "select semaphore.release('k', $1)", task); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	rows, err := conn.Query(t.Context(), "select task, event, seq from semaphore.event order by id")
	if err != nil {
		t.Fatal(err)
	}
	var task, seq, before int64
	var event string
	acquired := map[int64]int{}
	if _, err := pgx.ForEachRow(rows, []any{&task, &event, &seq}, func() error {
		if seq != before+1 {
			t.Errorf("event %d comes after %d", seq, before)
		}
		before = seq
		if event == "Acquired" {
			acquired[task]++
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for task, n := range acquired {
		if n > 1 {
			t.Errorf("task %d was acquired %d times", task, n)
		}
	}
	if got := ask(t, conn, "select count(*) from markup.semaphore_task"); got != "0" || before == 0 {
		t.Errorf("%s tasks left, %d events", got, before)
	}
}

// A transaction that cannot see concurrent changes decides nothing.
func TestSemaphoresNeedTheNewestSnapshot(t *testing.T) {
	dsn := postgres.Start(t, postgres.Options{Database: "fiveways"})
	if _, err := InstallSemaphores(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	old, other := connect(t, dsn), connect(t, dsn)
	run(t, other, "select semaphore.get_or_create('k', 1)")
	run(t, old, "begin isolation level repeatable read", "select semaphore.status('k', 1)")
	run(t, other, "select semaphore.enqueue('k', 1, 1)")
	if _, err := old.Exec(t.Context(), "select semaphore.enqueue('k', 2, 2)"); code(err) != "40001" {
		t.Errorf("a decision by what is no longer so: %v", err)
	}
	run(t, old, "rollback", "begin isolation level repeatable read", "select semaphore.enqueue('k', 2, 2)", "commit")
	if got := ask(t, old, "select string_agg(task_id || ' ' || status, ', ' order by task_id) from markup.semaphore_task"); got != "1 TRY_RELEASE, 2 WAIT" {
		t.Errorf("tasks %s", got)
	}
}

func TestSemaphoresRefuseWithReason(t *testing.T) {
	server := postgres.Run(t, postgres.Options{})
	admin := connect(t, server.DSN())
	run(t, admin, "create role app login", "create database foreign_", "create database newer")
	url := func(user, database string) string {
		return fmt.Sprintf("postgres://%s@127.0.0.1:%d/%s?sslmode=disable", user, server.Port(), database)
	}
	run(t, connect(t, url(postgres.Superuser, "foreign_")), "create schema semaphore")
	if _, err := InstallSemaphores(t.Context(), url(postgres.Superuser, "newer")); err != nil {
		t.Fatal(err)
	}
	run(t, connect(t, url(postgres.Superuser, "newer")), fmt.Sprintf("insert into semaphore.version values (%d)", SemaphoreVersion+1))
	for name, tc := range map[string]struct {
		dsn  string
		want error
	}{
		"no rights":           {url("app", "postgres"), ErrRights},
		"another's semaphore": {url(postgres.Superuser, "foreign_"), ErrOthers},
		"newer":               {url(postgres.Superuser, "newer"), ErrNewer},
		"somebody's":          {url("app", "newer"), ErrRights},
	} {
		if _, err := InstallSemaphores(t.Context(), tc.dsn); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
	}
}
