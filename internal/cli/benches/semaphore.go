package benches

import (
	"context"
	"fmt"
	"io"

	"fiveways.dev/fiveways/internal/bench/semaphore"

	"github.com/spf13/cobra"
)

func benchSemaphoreCommand() *cobra.Command {
	o := semaphore.DefaultOptions()
	t := target{key: "redis", before: "redis://"}
	cmd := &cobra.Command{
		Use:   "semaphore [URL]",
		Short: "measure how soon released tasks of a semaphore are replaced, and changes per second",
		Long: `Loads a server of task semaphores: Fiveways over the Redis protocol (redis://…) or SQL (postgres://…), or a real PostgreSQL with ` + "`fiveways\nsemaphore install`" + `. With --sweep it is a PostgreSQL with tables only, which a periodic sweep updates:
what task semaphores replace. Its tables are in a schema fiveways_bench, which is dropped at the end.

The loads run one after the other, each on a semaphore of its own that is deleted afterwards: handover (tasks are released at a steady rate; the time is that
from a release to the event Acquired of the next task) and changes (every client releases a task and enqueues another one, and waits for each answer).

The time of handover ends when a subscriber of semaphore.events, or of notifications of a PostgreSQL, has the event. Over the SQL of Fiveways, which has no
notifications, it ends when the releasing client has polled and seen the next task run.`,
		Example: `  fiveways bench semaphore
  fiveways bench semaphore postgres://guest:guest@127.0.0.1:5433/fiveways --load handover --rate 100
  fiveways bench semaphore postgres://me@localhost/shop
  fiveways bench semaphore postgres://me@localhost/shop --sweep 60s --load handover --duration 130s`,
		Args: cobra.MaximumNArgs(1),
	}
	f := t.flags(cmd, &o.Common, semaphore.LoadNames())
	f.IntVar(&o.Active, "active", o.Active, "tasks that run")
	f.IntVar(&o.Waiting, "waiting", o.Waiting, "tasks that wait at the start")
	f.Float64Var(&o.Rate, "rate", o.Rate, "releases a second (handover)")
	f.IntVar(&o.Clients, "clients", o.Clients, "connections (changes)")
	f.DurationVar(&o.Sweep, "sweep", o.Sweep, "use tables in a PostgreSQL, and sweep them at this interval")
	return t.run(cmd, &o.Common, func(ctx context.Context, progress io.Writer) (result, error) {
		r, err := semaphore.Run(ctx, o, func(l semaphore.Load) {
			fmt.Fprintf(progress, "%-10s %9.1f/s  p99 %.3f ms\n", l.Name, l.PerSecond, l.P99)
		})
		return &r, err
	})
}
