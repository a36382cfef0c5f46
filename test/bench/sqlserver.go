package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"

	"fiveways.dev/fiveways/internal/sqlschema"
	"fiveways.dev/fiveways/test/daemon"
	"fiveways.dev/fiveways/test/postgres"

	"github.com/jackc/pgx/v5"
)

// sqlServer is a server with the queues of mbus4, started on an empty folder for one run of one
// case.
type sqlServer struct {
	name    string
	dsn     string
	usage   func() (usage, error)
	kill    func()
	destroy func()
}

// starter starts an sqlServer.
type starter func(ctx context.Context) (*sqlServer, error)

// postgresPeer returns the peer of a real PostgreSQL with the native schema. It returns
// postgres.ErrNone if there is none.
func postgresPeer() (*peer, error) {
	if _, err := postgres.Bin(); err != nil {
		return nil, err
	}
	p := &peer{name: namePostgres}
	p.sql = func(ctx context.Context) (*sqlServer, error) {
		// Its defaults except for the connections: fsync is on, and so is synchronous_commit.
		s, err := postgres.Open(postgres.Options{Fsync: true, Settings: []string{"max_connections=1200"}})
		if err != nil {
			return nil, err
		}
		server := &sqlServer{name: p.name, dsn: s.DSN(), kill: s.Close, destroy: s.Close, usage: func() (usage, error) { return familyUsage(s.PID()) }}
		installed, err := sqlschema.Install(ctx, server.dsn)
		if err != nil {
			return nil, errors.Join(err, ctx.Err(), closed(s))
		}
		p.version = installed.Server
		return server, nil
	}
	return p, nil
}

func closed(s *postgres.Server) error { s.Close(); return nil }

// oursForSQL starts Fiveways with SQL and AMQP. An AMQP handshake shows when it is ready.
func oursForSQL(p *peer, binary string) starter {
	return func(ctx context.Context) (*sqlServer, error) {
		port, err := daemon.FreePort()
		if err != nil {
			return nil, err
		}
		side := peer{name: p.name, command: func(dir string, amqpPort int) (*exec.Cmd, error) {
			return exec.Command(binary, "serve", "--data", filepath.Join(dir, "data"), "--amqp", fmt.Sprintf("127.0.0.1:%d", amqpPort),
				"--sql", fmt.Sprintf("127.0.0.1:%d", port), "--redis", "off", "--etcd", "off", "--http", "off", "--metrics", "off"), nil
		}}
		b, err := side.start(ctx, nil)
		if err != nil {
			return nil, err
		}
		p.version = side.version
		return &sqlServer{
			name: p.name, dsn: fmt.Sprintf("postgres://guest:guest@127.0.0.1:%d/fiveways?sslmode=disable", port),
			usage: func() (usage, error) { return oneUsage(b.pid()) }, kill: b.kill, destroy: b.destroy,
		}, nil
	}
}

// measureSQL is measureOnce for the cases of SQL.
func measureSQL(ctx context.Context, c benchCase, p *peer, s settings) (values, error) {
	q, err := p.sql(ctx)
	if err != nil {
		return nil, err
	}
	defer q.destroy()
	return within(ctx, c, q.kill, func(ctx context.Context) (values, error) { return c.sql(ctx, q, s) })
}

// exec runs a statement and returns its one number, if it returns one.
func (q *sqlServer) exec(ctx context.Context, statement string) (n int64, err error) {
	conn, err := pgx.Connect(ctx, q.dsn)
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

// serves reports whether a case runs on a peer.
func (p *peer) serves(c benchCase) bool {
	if p.name == nameFloor && !c.floor {
		return false
	}
	switch c.part() {
	case partSQL:
		return p.sql != nil
	case partJobs:
		return p.jobs != nil
	case partEtcd:
		return p.etcd != nil
	case partSemaphore:
		return p.semaphore != nil
	case partManagement:
		return p.management != nil
	case partDisk:
		return p.disk != nil
	}
	return p.command != nil
}

// columnsOf returns the names of the peers of a case that can be used.
func columnsOf(c benchCase, peers []*peer) (names []string) {
	for _, p := range peers {
		if p.serves(c) && p.name != nameFloor {
			names = append(names, p.name)
		}
	}
	return slices.Clip(names)
}
