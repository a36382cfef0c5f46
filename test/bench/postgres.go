package main

import (
	"context"

	"fiveways.dev/fiveways/internal/sqlschema"
	"fiveways.dev/fiveways/test/postgres"

	"github.com/jackc/pgx/v5"
)

// postgresPeer returns the peer of a real PostgreSQL with the native schema. It returns
// postgres.ErrNone if there is none.
func postgresPeer() (*peer, error) {
	// Its defaults except for the connections: fsync is on, and so is synchronous_commit.
	return inPostgres(namePostgres, partSQL, []string{"max_connections=1200"}, func(ctx context.Context, q *server, _ settings) error {
		_, err := sqlschema.Install(ctx, q.urls["sql"])
		return err
	})
}

// inPostgres returns the peer of a real PostgreSQL for a part, whose servers prepare makes ready.
func inPostgres(name string, of part, extra []string, prepare func(context.Context, *server, settings) error) (*peer, error) {
	if _, err := postgres.Bin(); err != nil {
		return nil, err
	}
	p := &peer{name: name}
	p.servers = map[part]starter{of: func(ctx context.Context, _ benchCase, s settings) (*server, error) {
		real, err := postgres.Open(postgres.Options{Fsync: true, Settings: extra})
		if err != nil {
			return nil, err
		}
		q := &server{name: name, urls: map[string]string{"sql": real.DSN()}, pid: real.PID(), kill: real.Close, destroy: real.Close}
		if err = prepare(ctx, q, s); err == nil {
			p.version, err = versionOf(ctx, real.DSN())
		}
		if err != nil {
			real.Close()
			return nil, err
		}
		return q, nil
	}}
	return p, nil
}

// versionOf returns the version that a PostgreSQL reports.
func versionOf(ctx context.Context, dsn string) (version string, err error) {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	err = conn.QueryRow(ctx, "show server_version").Scan(&version)
	return version, err
}

// exec runs a statement and returns its one number, if it returns one.
func (q *server) exec(ctx context.Context, statement string) (n int64, err error) {
	conn, err := pgx.Connect(ctx, q.urls["sql"])
	if err != nil {
		return 0, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return exec1(ctx, conn, statement)
}

// exec1 is exec on an existing connection.
func exec1(ctx context.Context, conn *pgx.Conn, statement string) (n int64, err error) {
	rows, err := conn.Query(ctx, statement)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		if v, err := rows.Values(); err == nil && len(v) > 0 {
			n, _ = v[0].(int64)
		}
	}
	return n, rows.Err()
}
