package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"fiveways/internal/bench/sql"

	"github.com/spf13/cobra"
)

func benchSQLCommand() *cobra.Command {
	o := sql.DefaultOptions()
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "sql [DSN]",
		Short: "load queues over the PostgreSQL protocol and measure rates and latency",
		Long: `Loads the queues of mbus4 behind DSN: those of Fiveways, or those that ` + "`fiveways sql install`" + ` has put into a real PostgreSQL.

The loads run one after the other: post (a message each), consume (a message each, from a backlog posted before), consumen (many at once) and
transaction (take one, post another, commit). Every client is a connection that waits for each answer. Each load has a queue of its own, which
is dropped afterwards.`,
		Example: `  fiveways bench sql
  fiveways bench sql --load post --clients 64
  fiveways bench sql postgres://me@localhost/shop --load consume --clients 16 --backlog 20000
  fiveways bench sql postgres://guest:guest@broker:5433/fiveways --json > result.json`,
		Args: cobra.MaximumNArgs(1),
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringSliceVar(&o.Loads, "load", o.Loads, "loads to run")
	f.IntVar(&o.Clients, "clients", o.Clients, "connections")
	f.IntVar(&o.Size, "size", o.Size, "bytes of the text in a message")
	f.IntVar(&o.Amount, "amount", o.Amount, "messages that one consumen asks for")
	f.IntVar(&o.Backlog, "backlog", o.Backlog, "messages posted before a load that takes some")
	f.DurationVar(&o.Duration, "duration", o.Duration, "end of each load")
	f.BoolVar(&asJSON, "json", false, "print the result as JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			o.DSN = args[0]
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		result, err := sql.Run(ctx, o, func(l sql.Load) {
			fmt.Fprintf(cmd.ErrOrStderr(), "%-12s %9.0f messages/s\n", l.Name, l.Messages.PerSecond)
		})
		if err != nil {
			return err
		}
		if asJSON {
			e := json.NewEncoder(cmd.OutOrStdout())
			e.SetIndent("", "  ")
			return e.Encode(result)
		}
		return result.WriteText(cmd.OutOrStdout())
	}
	return cmd
}
