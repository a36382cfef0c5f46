package main

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// sqlBacklog is the number of messages that wait before a case that consumes them.
const sqlBacklog = 100_000

// The statements of the scripts. The message is like the seed's: a few short pairs.
const (
	makeQueue   = "select mbus4.create_queue('work', 64)"
	postOne     = `select mbus4.post('work', 'order=>4711, what=>"a pound of tea, please", "to"=>vasya')`
	consumeOne  = "select * from mbus4.consume('work')"
	consumeSome = "select * from mbus4.consumen_work_by_default(100)"
	countAll    = "select count(*) from mbus4.messages('work')"
)

// postMany returns one statement, and so one transaction, that posts n messages.
func postMany(n int64) string {
	return `select count(mbus4.post('work', 'order=>4711, what=>"a pound of tea, please", "to"=>vasya')) from generate_series(1, ` +
		strconv.FormatInt(n, 10) + ")"
}

func sqlMetrics(times float64) []metric {
	return []metric{{name: "rate", unit: "msg/s", more: true, bar: timesRival(times)}, {name: "cpu", unit: "µs/msg"}}
}

// sqlCases returns the cases of SQL in order.
func sqlCases() (all []benchCase) {
	for _, c := range []struct {
		clients int
		times   float64
	}{{1, 1.5}, {4, 2.5}, {64, 4}} {
		all = append(all, benchCase{name: fmt.Sprintf("sql-post-%d", c.clients), title: "post, " + clientsText(c.clients),
			metrics: sqlMetrics(c.times), serve: sqlPost(c.clients), floor: true})
	}
	for _, clients := range []int{1, 4, 16} {
		all = append(all, benchCase{name: fmt.Sprintf("sql-consume-%d", clients), title: "consume of a backlog of 100,000, " + clientsText(clients),
			metrics: sqlMetrics(5), serve: sqlConsume(consumeOne, 1, clients), floor: true})
	}
	for _, clients := range []int{1, 4} {
		all = append(all, benchCase{name: fmt.Sprintf("sql-consumen-%d", clients), title: "consumen(100) of a backlog of 100,000, " + clientsText(clients),
			metrics: sqlMetrics(5), serve: sqlConsume(consumeSome, 100, clients), floor: true})
	}
	return append(all,
		benchCase{name: "sql-passed", title: "post and consume before and after 10,000,000 messages have passed (PostgreSQL: 500,000), 4 clients",
			once: true, serve: sqlPassed, metrics: []metric{
				{name: "before", unit: "msg/s", more: true}, {name: "after", unit: "msg/s", more: true},
				{name: "kept", unit: "%", more: true, bar: limit(90)}, {name: "passing", unit: "msg/s", more: true}, {name: "memory", unit: "MB"}}},
		benchCase{name: "sql-idle", title: "1,000 connections idle in a transaction, each holding a message", once: true, serve: sqlIdle,
			metrics: []metric{
				{name: "memory", unit: "MB", bar: limit(150)},
				{name: "p50 of another client before", unit: "ms"}, {name: "p50 beside them", unit: "ms"},
				{name: "p99 of another client before", unit: "ms"}, {name: "p99 beside them", unit: "ms"}}},
	)
}

func clientsText(n int) string {
	if n == 1 {
		return "1 client"
	}
	return fmt.Sprintf("%d clients", n)
}

// warmUp is how long a load runs before it is measured, so that connections, plans and files exist.
const warmUp = "1"

// sqlPost measures single posts. All of them must be there afterwards.
func sqlPost(clients int) serverRunner {
	return func(ctx context.Context, q *server, s settings) (values, error) {
		if _, err := q.exec(ctx, makeQueue); err != nil {
			return nil, err
		}
		p := pgbench{dsn: q.urls["sql"], script: postOne + ";\n", clients: clients}
		warm, err := p.run(ctx, "-T", warmUp)
		if err != nil {
			return nil, err
		}
		var d done
		cpu, err := cpuDuring(q.cpu, func() (err error) {
			d, err = p.run(ctx, "-T", wholeSeconds(s.duration))
			return err
		})
		if err != nil {
			return nil, err
		}
		return values{"rate": d.rate, "cpu": microsEach(cpu, d.transactions)}, q.holds(ctx, warm.transactions+d.transactions)
	}
}

// holds returns an error unless there are exactly n messages. A null server has none.
func (q *server) holds(ctx context.Context, n int64) error {
	if q.name == nameFloor {
		return nil
	}
	there, err := q.exec(ctx, countAll)
	if err == nil && there != n {
		err = fmt.Errorf("bench: the queue holds %d messages, not %d", there, n)
	}
	return err
}

func wholeSeconds(d time.Duration) string {
	return strconv.Itoa(max(1, int(d.Round(time.Second)/time.Second)))
}

// fill posts n messages.
func (q *server) fill(ctx context.Context, n int64) error {
	if _, err := q.exec(ctx, makeQueue); err != nil {
		return err
	}
	for left := n; left > 0; left -= min(left, 10_000) {
		if _, err := q.exec(ctx, postMany(min(left, 10_000))); err != nil {
			return err
		}
	}
	return nil
}

// sqlConsume measures how a backlog is consumed, each messages per statement, until it is gone or
// the time is over. Everything that was not counted as consumed must be there afterwards.
func sqlConsume(statement string, each int64, clients int) serverRunner {
	return func(ctx context.Context, q *server, s settings) (values, error) {
		left := s.scaled(sqlBacklog, each*int64(clients))
		if err := q.fill(ctx, left); err != nil {
			return nil, err
		}
		p := pgbench{dsn: q.urls["sql"], script: statement + ";\n", clients: clients}
		var took time.Duration
		var taken int64
		cpu, err := cpuDuring(q.cpu, func() error {
			// pgbench cannot stop at an empty queue, so it gets a number of transactions: a few at
			// first, then what fits into the time that is left.
			for n := int64(20); left > 0 && took < s.duration*9/10; n = fitting(taken/each, took, s.duration-took, clients) {
				n = min(n, left/each/int64(clients))
				d, err := p.run(ctx, "-t", strconv.FormatInt(n, 10))
				if err != nil {
					return err
				}
				took += time.Duration(float64(d.transactions) / d.rate * float64(time.Second))
				taken += d.transactions * each
				left -= d.transactions * each
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		return values{"rate": float64(taken) / took.Seconds(), "cpu": microsEach(cpu, taken)}, q.holds(ctx, left)
	}
}

// fitting returns how many transactions per client take about the time that is left, if n of all
// clients took the time took.
func fitting(n int64, took, left time.Duration, clients int) int64 {
	return max(1, int64(float64(n)*left.Seconds()/took.Seconds())/int64(clients))
}
