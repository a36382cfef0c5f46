package benches

import (
	"context"
	"fmt"
	"io"

	"fiveways.dev/fiveways/internal/bench/sql"

	"github.com/spf13/cobra"
)

func benchSQLCommand() *cobra.Command {
	o := sql.DefaultOptions()
	t := target{key: "sql", before: "postgres://guest:guest@", behind: "/fiveways"}
	cmd := &cobra.Command{
		Use:   "sql [DSN]",
		Short: "load queues over the PostgreSQL protocol and measure rates and latency",
		Long: `Loads the queues of mbus4 behind DSN: those of Fiveways, or those of ` + "`fiveways sql install`" + ` in a real PostgreSQL.

The loads run one after the other: post (a message each), consume (a message each, from a backlog posted before), consumen (many at once) and
transaction (take one, post another, commit). Every client is a connection that waits for each answer. Each load has a queue of its own, which
is dropped afterwards.`,
		Example: `  fiveways bench sql
  fiveways bench sql --load post --clients 64
  fiveways bench sql postgres://me@localhost/shop --load consume --clients 16 --backlog 20000
  fiveways bench sql postgres://guest:guest@broker:5433/fiveways --json > result.json`,
		Args: cobra.MaximumNArgs(1),
	}
	f := t.flags(cmd, &o.Common, sql.LoadNames())
	f.IntVar(&o.Clients, "clients", o.Clients, "connections")
	f.IntVar(&o.Size, "size", o.Size, "bytes of the text in a message")
	f.IntVar(&o.Amount, "amount", o.Amount, "messages that one consumen asks for")
	f.IntVar(&o.Backlog, "backlog", o.Backlog, "messages posted before a load that takes some")
	return t.run(cmd, &o.Common, func(ctx context.Context, progress io.Writer) (result, error) {
		r, err := sql.Run(ctx, o, func(l sql.Load) {
			fmt.Fprintf(progress, "%-12s %9.0f messages/s\n", l.Name, l.Messages.PerSecond)
		})
		return &r, err
	})
}
