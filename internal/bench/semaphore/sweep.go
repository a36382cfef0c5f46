package semaphore

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// sweepServer is a PostgreSQL server with the tables of the earlier design, which a periodic sweep
// updates. The sweep fills the free places, and asks the running tasks of lowest priority to give
// way to more urgent waiting tasks. A release or an enqueue is only a statement on a table, without
// a decision.
type sweepServer struct {
	dsn   string
	every time.Duration
	admin *pgx.Conn
	sweep struct {
		stop context.CancelFunc
		sync.WaitGroup
		err error // read it after Wait
	}
}

// sweepSchema is the schema of the tables, separate from those of others.
const sweepSchema = "fiveways_bench"

func openSweep(ctx context.Context, o Options) (server, string, error) {
	conn, version, err := connectSQL(ctx, o.URL)
	if err != nil {
		return nil, "", err
	}
	return &sweepServer{dsn: o.URL, every: o.Sweep, admin: conn}, "PostgreSQL " + version + " with a sweep every " + o.Sweep.String(), nil
}

// The tables and indexes are those of the original.
const sweepTables = `
	create schema ` + sweepSchema + `;
	set search_path = ` + sweepSchema + `;
	create table semaphore (
		id serial primary key,
		key text not null,
		active int not null default 1000,
		try_release int not null default 900
	);
	create unique index ix_semaphore on semaphore (key);
	create type semaphore_status as enum ('WAIT', 'ACQUIRED', 'TRY_RELEASE');
	create table semaphore_task (
		semaphore_id int not null references semaphore (id),
		task_id bigint not null,
		priority double precision not null,
		status semaphore_status not null default 'WAIT',
		enqueued timestamptz not null default now(),
		primary key (semaphore_id, task_id)
	);
	create index ix_semaphore_task_wait on semaphore_task (semaphore_id, priority);
	create index ix_semaphore_task_active on semaphore_task (semaphore_id, priority) where status in ('ACQUIRED', 'TRY_RELEASE')`

func (s *sweepServer) prepare(ctx context.Context, active, tryRelease int) error {
	if _, err := s.admin.Exec(ctx, sweepTables); err != nil {
		return err
	}
	_, err := s.admin.Exec(ctx, "insert into semaphore (key, active, try_release) values ('bench', $1, $2)", active, tryRelease)
	return err
}

// fill enqueues the tasks and then starts the sweeps.
func (s *sweepServer) fill(ctx context.Context, tasks int) error {
	err := chunks(tasks, func(first, behind int) error {
		ids, priorities := column(first, behind)
		_, err := s.admin.Exec(ctx, "insert into semaphore_task (semaphore_id, task_id, priority) select 1, t, p from unnest($1::bigint[], $2::float8[]) v (t, p)", ids, priorities)
		return err
	})
	if err != nil {
		return err
	}
	if _, err := s.admin.Exec(ctx, "analyze semaphore_task"); err != nil {
		return err
	}
	ctx, s.sweep.stop = context.WithCancel(ctx)
	s.sweep.Go(func() { s.sweep.err = s.sweepOften(ctx) })
	return nil
}

// sweepOften sweeps at once, and then at the configured interval.
func (s *sweepServer) sweepOften(ctx context.Context) error {
	conn, err := connectSweep(ctx, s.dsn)
	if err != nil {
		return err
	}
	defer closeSQL(conn)
	for again := time.NewTicker(s.every); ; {
		if err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return sweep(ctx, tx) }); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil
		}
	}
}

func connectSweep(ctx context.Context, dsn string) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	config.RuntimeParams["search_path"] = sweepSchema
	return pgx.ConnectConfig(ctx, config)
}

// sweep does for the semaphore what the original does for each: it fills places, and then asks
// tasks to give way. Each task that starts is announced by a notification.
func sweep(ctx context.Context, tx pgx.Tx) error {
	var active, tryRelease, running int
	err := tx.QueryRow(ctx, `select active, try_release, (select count(*) from semaphore_task t where t.semaphore_id = s.id and t.status in ('ACQUIRED', 'TRY_RELEASE'))
		from semaphore s where s.id = 1`).Scan(&active, &tryRelease, &running)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `with first as (
			select task_id, status from semaphore_task where semaphore_id = 1 order by priority desc, enqueued limit $1
		), chosen as (
			select task_id from first where status = 'WAIT' limit $2
		), begun as (
			update semaphore_task t set status = 'ACQUIRED' from chosen c where t.semaphore_id = 1 and t.task_id = c.task_id returning t.task_id
		)
		select pg_notify('`+sweepSchema+`', task_id::text) from begun`, active, max(active-running, 0))
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `with first as (
			select status from semaphore_task where semaphore_id = 1 order by priority desc, enqueued limit $1
		), lowest as (
			select task_id from semaphore_task where semaphore_id = 1 and status in ('ACQUIRED', 'TRY_RELEASE')
			order by priority, enqueued desc limit least($2::bigint, (select count(*) from first where status = 'WAIT'))
		)
		update semaphore_task t set status = 'TRY_RELEASE' from lowest l where t.semaphore_id = 1 and t.task_id = l.task_id and t.status = 'ACQUIRED'`, active, tryRelease)
	return err
}

func (s *sweepServer) runs(ctx context.Context, task int) (bool, error) {
	return runsSQL(s.admin.QueryRow(ctx, "select status::text from semaphore_task where semaphore_id = 1 and task_id = $1", task))
}

func (s *sweepServer) connect(ctx context.Context) (client, error) {
	conn, err := connectSweep(ctx, s.dsn)
	return &sweepClient{sqlClient{conn: conn}}, err
}

type sweepClient struct{ sqlClient }

func (c *sweepClient) release(task int) error {
	return c.run("delete from semaphore_task where semaphore_id = 1 and task_id = $1", task)
}

func (c *sweepClient) enqueue(task int) error {
	return c.run(`insert into semaphore_task (semaphore_id, task_id, priority) values (1, $1, $2)
		on conflict (semaphore_id, task_id) do update set priority = excluded.priority`, task, priorityOf(task))
}

func (s *sweepServer) watch(ctx context.Context, acquired func(), failed func(error)) error {
	return hear(ctx, s.dsn, sweepSchema, failed, func(string) error { acquired(); return nil })
}

func (s *sweepServer) remove(ctx context.Context) error {
	if s.sweep.stop != nil {
		s.sweep.stop()
		s.sweep.Wait()
		s.sweep.stop = nil
	}
	return errors.Join(s.sweep.err, once(ctx, s.dsn, "drop schema if exists "+sweepSchema+" cascade"))
}

func (s *sweepServer) close() { closeSQL(s.admin) }
