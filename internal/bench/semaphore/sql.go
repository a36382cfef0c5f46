package semaphore

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/jackc/pgx/v5"
)

// sqlServer is a server with the functions semaphore.*: Fiveways, or a PostgreSQL server on which
// they were installed.
type sqlServer struct {
	dsn      string
	key      string
	admin    *pgx.Conn
	notifies bool // it sends notifications of events
	active   int
	looking  *looking // for servers without notifications; else nil
}

func openSQL(ctx context.Context, o Options, key string) (server, string, error) {
	conn, version, err := connectSQL(ctx, o.URL)
	if err != nil {
		return nil, "", err
	}
	s := &sqlServer{dsn: o.URL, key: key, admin: conn, notifies: !strings.Contains(version, "Fiveways")}
	if s.notifies {
		return s, "PostgreSQL " + version + " with the functions semaphore.*", nil
	}
	return s, "Fiveways over SQL (" + version + ")", nil
}

// connectSQL connects, and returns the server's version.
func connectSQL(ctx context.Context, dsn string) (conn *pgx.Conn, version string, err error) {
	if conn, err = pgx.Connect(ctx, dsn); err != nil {
		return nil, "", err
	}
	if err := conn.QueryRow(ctx, "show server_version").Scan(&version); err != nil {
		closeSQL(conn)
		return nil, "", err
	}
	return conn, version, nil
}

func closeSQL(conn *pgx.Conn) { conn.Close(context.Background()) } //nolint:errcheck // nothing is pending

func (s *sqlServer) prepare(ctx context.Context, active, tryRelease int) error {
	s.active, s.looking = active, nil
	_, err := s.admin.Exec(ctx, "select * from semaphore.get_or_create($1, $2, $3)", s.key, active, tryRelease)
	return err
}

func (s *sqlServer) fill(ctx context.Context, tasks int) error {
	return chunks(tasks, func(first, behind int) error {
		ids, priorities := column(first, behind)
		_, err := s.admin.Exec(ctx, "select * from semaphore.enqueue_all($1, $2::bigint[], $3)", s.key, ids, priorities)
		return err
	})
}

// column returns tasks as arrays of ids and priorities.
func column(first, behind int) (ids []int64, priorities []float64) {
	for task := first; task < behind; task++ {
		ids, priorities = append(ids, int64(task)), append(priorities, priorityOf(task))
	}
	return ids, priorities
}

func (s *sqlServer) runs(ctx context.Context, task int) (bool, error) {
	return runsSQL(s.admin.QueryRow(ctx, "select semaphore.status($1, $2)::text", s.key, task))
}

func runsSQL(row pgx.Row) (bool, error) {
	var status *string
	err := row.Scan(&status)
	return status != nil && *status == acquiredStatus, err
}

func (s *sqlServer) connect(ctx context.Context) (client, error) {
	conn, err := pgx.Connect(ctx, s.dsn)
	if err != nil {
		return nil, err
	}
	c := &sqlClient{conn, s.key}
	if s.looking != nil {
		return &lookingClient{c, s.looking}, nil
	}
	return c, nil
}

type sqlClient struct {
	conn *pgx.Conn
	key  string
}

func (c *sqlClient) release(task int) error {
	return c.run("select semaphore.release($1, $2)", c.key, task)
}

func (c *sqlClient) enqueue(task int) error {
	return c.run("select semaphore.enqueue($1, $2, $3)", c.key, task, priorityOf(task))
}

func (c *sqlClient) run(statement string, args ...any) error {
	_, err := c.conn.Exec(context.Background(), statement, args...)
	return err
}

func (c *sqlClient) interrupt() { c.conn.PgConn().Conn().Close() }

// lookingClient polls after each release until the next task runs, because Fiveways' SQL has no
// notifications.
type lookingClient struct {
	*sqlClient
	*looking
}

// looking is the shared state of polling clients.
type looking struct {
	next     int // the task that gets the next place
	acquired func()
}

func (c *lookingClient) release(task int) error {
	if err := c.sqlClient.release(task); err != nil {
		return err
	}
	for {
		runs, err := runsSQL(c.conn.QueryRow(context.Background(), "select semaphore.status($1, $2)::text", c.key, c.next))
		if err != nil {
			return err
		}
		if runs {
			c.next++
			c.acquired()
			return nil
		}
	}
}

func (s *sqlServer) watch(ctx context.Context, acquired func(), failed func(error)) error {
	if !s.notifies {
		s.looking = &looking{s.active, acquired}
		return nil
	}
	return hear(ctx, s.dsn, "semaphore", failed, func(payload string) error {
		var e struct{ Key, Event string }
		err := json.Unmarshal([]byte(payload), &e)
		if e.Key == s.key && e.Event == acquiredEvent {
			acquired()
		}
		return err
	})
}

// hear passes on the notifications on a channel until ctx ends.
func hear(ctx context.Context, dsn, channel string, failed func(error), tell func(payload string) error) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "listen "+channel); err != nil {
		closeSQL(conn)
		return err
	}
	go func() {
		defer closeSQL(conn)
		for {
			n, err := conn.WaitForNotification(ctx)
			if err == nil {
				err = tell(n.Payload)
			}
			if err != nil {
				if ctx.Err() == nil {
					failed(err)
				}
				return
			}
		}
	}()
	return nil
}

func (s *sqlServer) remove(ctx context.Context) error {
	return once(ctx, s.dsn, "select semaphore.drop($1)", s.key)
}

// once runs a statement on a new connection, because others may have been closed.
func once(ctx context.Context, dsn, statement string, args ...any) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer closeSQL(conn)
	_, err = conn.Exec(ctx, statement, args...)
	return err
}

func (s *sqlServer) close() { closeSQL(s.admin) }
