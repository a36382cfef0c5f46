package sql

import (
	"context"
	"testing"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// BenchmarkPrepared measures one round of Bind, Execute and Sync, as drivers and pgbench -M
// prepared send it, without the protocol and the broker.
func BenchmarkPrepared(b *testing.B) {
	for _, q := range []struct {
		name, text string
		args       []value.Datum
	}{
		{"post", "select fake.post($1, $2)", []value.Datum{"q", "some data"}},
		{"consume", "select * from fake.pairs($1)", []value.Datum{int64(1)}},
	} {
		b.Run(q.name, func(b *testing.B) {
			c := newClient(false)
			defer c.s.Close()
			p, err := c.s.Prepare(q.text, nil)
			if err != nil {
				b.Fatal(err)
			}
			row := func([]value.Datum) error { return nil }
			b.ReportAllocs()
			for b.Loop() {
				o, err := c.s.Open(p, q.args)
				if err == nil {
					err = c.s.Bind("", o)
				}
				if err == nil {
					_, _, err = c.s.Fetch(context.Background(), o, 0, row)
				}
				if err == nil {
					err = c.s.Sync(context.Background())
				}
				if err != nil {
					b.Fatal(err)
				}
				c.work.log = c.work.log[:0]
			}
		})
	}
}
