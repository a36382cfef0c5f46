package mbus

import (
	"context"
	"io"
	"log/slog"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/loans"
	"fiveways.dev/fiveways/internal/core/hstore"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// prepared runs a prepared statement like the extended protocol.
type prepared struct {
	b *testing.B
	s *sql.Session
	p *sql.Prepared
}

func newBench(b *testing.B) (run func(text string) *prepared) {
	b.Helper()
	engine, err := broker.Open(vfs.OS{}, b.TempDir(), broker.Options{
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), DiskFreeLimit: -1, Shards: 1, Sync: store.SyncOS, Conditions: Conditions(),
	})
	if err != nil {
		b.Fatal(err)
	}
	own, err := engine.NewSession(broker.SessionOptions{User: "guest", VHost: "/"})
	if err != nil {
		b.Fatal(err)
	}
	w := NewSession(engine, own, Options{User: "guest", Database: "fiveways", Loans: new(loans.Manager)})
	s := sql.NewSession(sql.Options{
		User: "guest", Database: "fiveways", Superuser: true, Schemas: w.Schemas(), Roles: w, Work: w, Session: w,
	})
	b.Cleanup(func() { s.Close(); engine.Close() })
	return func(text string) *prepared {
		p, err := s.Prepare(text, nil)
		if err != nil {
			b.Fatal(err)
		}
		return &prepared{b, s, p}
	}
}

// exec runs the statement and returns the number of rows.
func (p *prepared) exec(args ...value.Datum) (n int) {
	portal, err := p.s.Open(p.p, args)
	if err == nil {
		_, _, err = p.s.Fetch(context.Background(), portal, 0, func([]value.Datum) error { n++; return nil })
	}
	if err == nil {
		err = p.s.Sync(context.Background())
	}
	if err != nil {
		p.b.Fatal(err)
	}
	return n
}

var benchData = hstore.New([]hstore.Pair{{Key: "order", Value: "4711"}, {Key: "what", Value: "a pound of tea, please"}, {Key: "to", Value: "vasya"}})

func BenchmarkPost(b *testing.B) {
	run := newBench(b)
	run("select mbus4.create_queue('q', 4)").exec()
	post := run("select mbus4.post($1, $2)")
	b.ReportAllocs()
	for b.Loop() {
		post.exec("q", benchData)
	}
}

func BenchmarkConsume(b *testing.B) {
	run := newBench(b)
	run("select mbus4.create_queue('q', 4)").exec()
	fill := run("select mbus4.post('q', $1) from generate_series(1, 10000)")
	consume := run("select * from mbus4.consume($1)")
	b.ReportAllocs()
	left := 0
	for b.Loop() {
		if left == 0 {
			b.StopTimer()
			fill.exec(benchData)
			left = 10000
			b.StartTimer()
		}
		if consume.exec("q") != 1 {
			b.Fatal("no message")
		}
		left--
	}
}

func BenchmarkConsumen100(b *testing.B) {
	run := newBench(b)
	run("select mbus4.create_queue('q', 4)").exec()
	fill := run("select mbus4.post('q', $1) from generate_series(1, 10000)")
	consumen := run("select * from mbus4.consumen_q_by_default(100)")
	b.ReportAllocs()
	left := 0
	for b.Loop() {
		if left == 0 {
			b.StopTimer()
			fill.exec(benchData)
			left = 100
			b.StartTimer()
		}
		if consumen.exec() != 100 {
			b.Fatal("too few messages")
		}
		left--
	}
}
