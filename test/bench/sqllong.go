package main

import (
	"context"
	"fmt"
	"time"

	"fiveways.dev/fiveways/internal/bench/parallel"
	"fiveways.dev/fiveways/internal/bench/sql"

	"github.com/jackc/pgx/v5"
)

// The number of messages that pass before the speed is measured again. PostgreSQL would take most
// of an hour for ten million.
const (
	sqlPassing       = 10_000_000
	sqlPassingNative = 500_000
)

// sqlPassed measures post and consume on a fresh server and again after many messages have passed
// through it.
func sqlPassed(ctx context.Context, q *server, s settings) (values, error) {
	if _, err := q.exec(ctx, makeQueue); err != nil {
		return nil, err
	}
	p := pgbench{dsn: q.urls["sql"], script: postOne + ";\n" + consumeOne + ";\n", clients: 4}
	if _, err := p.run(ctx, "-T", warmUp); err != nil {
		return nil, err
	}
	before, err := p.run(ctx, "-T", wholeSeconds(s.duration))
	if err != nil {
		return nil, err
	}
	n := s.scaled(sqlPassing, 2000)
	if q.name == namePostgres {
		n = s.scaled(sqlPassingNative, 2000)
	}
	began := time.Now()
	if err := q.pass(ctx, n); err != nil {
		return nil, err
	}
	took := time.Since(began)
	after, err := p.run(ctx, "-T", wholeSeconds(s.duration))
	if err != nil {
		return nil, err
	}
	u, err := q.usage()
	return values{"before": before.rate, "after": after.rate, "kept": 100 * after.rate / before.rate,
		"passing": float64(n) / took.Seconds(), "memory": u.memory}, err
}

// pass lets n messages through the queue, a thousand with each statement, over two connections.
func (q *server) pass(ctx context.Context, n int64) error {
	const each, sides = 1000, 2
	return parallel.Do(ctx, sides, func(ctx context.Context, _ int) error { return q.passSome(ctx, n/sides/each, each) })
}

func (q *server) passSome(ctx context.Context, times, each int64) error {
	conn, err := pgx.Connect(ctx, q.urls["sql"])
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for range times {
		if _, err := exec1(ctx, conn, postMany(each)); err != nil {
			return err
		}
		if _, err := exec1(ctx, conn, fmt.Sprintf("select count(*) from mbus4.consumen_work_by_default(%d)", each)); err != nil {
			return err
		}
	}
	return nil
}

// sqlHolders is the number of connections that hold one message each.
const sqlHolders = 1000

// sqlIdle measures another client before and beside many connections that have consumed a message
// and do nothing more.
func sqlIdle(ctx context.Context, q *server, s settings) (values, error) {
	o := sql.DefaultOptions()
	o.URL, o.Loads, o.Backlog, o.Duration = q.urls["sql"], []string{"transaction"}, 1000, s.duration
	before, err := sql.Run(ctx, o, nil)
	if err != nil {
		return nil, err
	}
	holders := s.scaled(sqlHolders, 1)
	if err := q.fill(ctx, holders); err != nil {
		return nil, err
	}
	conns, err := q.hold(ctx, holders)
	defer func() {
		for _, conn := range conns {
			conn.Close(context.WithoutCancel(ctx))
		}
	}()
	if err != nil {
		return nil, err
	}
	u, err := q.usage()
	if err != nil {
		return nil, err
	}
	beside, err := sql.Run(ctx, o, nil)
	if err != nil {
		return nil, err
	}
	ms := func(us float64) float64 { return us / 1e3 }
	return values{"memory": u.memory,
		"p50 of another client before": ms(before.Loads[0].P50), "p50 beside them": ms(beside.Loads[0].P50),
		"p99 of another client before": ms(before.Loads[0].P99), "p99 beside them": ms(beside.Loads[0].P99)}, nil
}

// hold opens n connections, each with a message in an open transaction. The result must be closed
// even with an error.
func (q *server) hold(ctx context.Context, n int64) (conns []*pgx.Conn, err error) {
	for range n {
		conn, err := pgx.Connect(ctx, q.urls["sql"])
		if err != nil {
			return conns, err
		}
		conns = append(conns, conn)
		if _, err := conn.Exec(ctx, "begin"); err != nil {
			return conns, err
		}
		tag, err := conn.Exec(ctx, consumeOne)
		if err != nil {
			return conns, err
		}
		if tag.RowsAffected() != 1 {
			return conns, fmt.Errorf("bench: a connection got %d messages", tag.RowsAffected())
		}
	}
	return conns, nil
}
