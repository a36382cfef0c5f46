package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"fiveways/internal/bench/semaphore"

	"github.com/spf13/cobra"
)

func benchSemaphoreCommand() *cobra.Command {
	o := semaphore.DefaultOptions()
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "semaphore [URL]",
		Short: "measure how soon a place of a task semaphore is taken, and how many changes there are a second",
		Long: `Loads a server of task semaphores: Fiveways over the Redis protocol (redis://…) or SQL (postgres://…), or a real PostgreSQL with what ` + "`fiveways\nsemaphore install`" + ` has put into it. With --sweep it is a PostgreSQL with tables alone, over which a sweep goes once in so long and decides who may run:
what task semaphores were before. Its tables are in a schema fiveways_bench, which is dropped at the end.

The loads run one after the other, each on a semaphore of its own that is deleted afterwards: handover (tasks are released at a steady rate; the time is that
from a release to the event Acquired of the task that has the place) and changes (every client releases a task and enqueues another one, and waits for each answer).

The time of handover ends when a subscriber of semaphore.events, or of notifications of a PostgreSQL, has the event. Over the SQL of Fiveways, which has no
notifications, it ends when the client that released has looked and seen the next task run.`,
		Example: `  fiveways bench semaphore
  fiveways bench semaphore postgres://guest:guest@127.0.0.1:5433/fiveways --load handover --rate 100
  fiveways bench semaphore postgres://me@localhost/shop
  fiveways bench semaphore postgres://me@localhost/shop --sweep 60s --load handover --duration 130s`,
		Args: cobra.MaximumNArgs(1),
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringSliceVar(&o.Loads, "load", o.Loads, "loads to run: "+strings.Join(semaphore.LoadNames(), ", "))
	f.IntVar(&o.Active, "active", o.Active, "tasks that run")
	f.IntVar(&o.Waiting, "waiting", o.Waiting, "tasks that wait at the start")
	f.Float64Var(&o.Rate, "rate", o.Rate, "releases a second (handover)")
	f.IntVar(&o.Clients, "clients", o.Clients, "connections (changes)")
	f.DurationVar(&o.Duration, "duration", o.Duration, "end of each load")
	f.DurationVar(&o.Sweep, "sweep", o.Sweep, "use tables in a PostgreSQL, and sweep them so often")
	f.BoolVar(&asJSON, "json", false, "print the result as JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			o.URL = args[0]
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		result, err := semaphore.Run(ctx, o, func(l semaphore.Load) {
			fmt.Fprintf(cmd.ErrOrStderr(), "%-10s %9.1f/s  p99 %.3f ms\n", l.Name, l.PerSecond, l.P99)
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
