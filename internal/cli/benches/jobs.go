package benches

import (
	"context"
	"fmt"
	"io"

	benchjobs "fiveways.dev/fiveways/internal/bench/jobs"
	"fiveways.dev/fiveways/internal/cli/brokeraddr"

	"github.com/spf13/cobra"
)

func benchJobsCommand() *cobra.Command {
	o, idle := benchjobs.DefaultOptions(), benchjobs.DefaultIdleOptions()
	t := target{key: "redis", before: "redis://"}
	var isIdle bool
	cmd := &cobra.Command{
		Use:   "jobs [URL]",
		Short: "load queues of jobs over the Redis protocol and measure rates and latency",
		Long: `Loads job queues over the Redis protocol: those of Fiveways with its JOB commands, or, on a real Redis, equivalent Lua scripts.

The loads run one after the other: enqueue (jobs put into a queue), work (taken from a backlog and reported done), cycle (enqueued, taken and
reported done), list (LPUSH, then BRPOP) and wire (three PINGs: the limit for a cycle). With a depth above 1 a connection pipelines that many commands, and takes that many jobs at once.
With --idle it measures the cost of many queues with waiting takers, and how long a job takes to wake one of them.
With --against the same loads run on a second server, alternating with the first. Each load has a queue of its own, which is removed afterwards.`,
		Example: `  fiveways bench jobs
  fiveways bench jobs --load cycle --connections 4,16 --depth 1
  fiveways bench jobs redis://127.0.0.1:6380 --against redis://127.0.0.1:6379
  fiveways bench jobs redis://guest:guest@broker:6380 --json > result.json`,
		Args: cobra.MaximumNArgs(1),
	}
	f := t.flags(cmd, &o.Common, benchjobs.LoadNames())
	f.StringVar(&o.Against, "against", o.Against, "URL of another server, to compare with")
	f.IntSliceVar(&o.Connections, "connections", o.Connections, "numbers of connections to run with")
	f.IntSliceVar(&o.Depths, "depth", o.Depths, "numbers of jobs in flight on a connection to run with")
	f.IntVar(&o.Size, "size", o.Size, "bytes of a body")
	f.IntVar(&o.Backlog, "backlog", o.Backlog, "jobs enqueued before a load that only takes")
	f.IntVar(&o.Repetitions, "repetitions", o.Repetitions, "how often each runs; the median counts")
	f.BoolVar(&isIdle, "idle", false, "measure waiting takers instead of loads")
	f.IntVar(&idle.Queues, "queues", idle.Queues, "with --idle: empty queues")
	f.IntVar(&idle.Takers, "takers", idle.Takers, "with --idle: connections that wait at them")
	f.IntVar(&idle.Wakes, "wakes", idle.Wakes, "with --idle: jobs enqueued, one after the other")
	f.DurationVar(&idle.Quiet, "quiet", idle.Quiet, "with --idle: how long nothing happens")
	return t.run(cmd, &o.Common, func(ctx context.Context, progress io.Writer) (result, error) {
		idle.URL = o.URL
		if isIdle {
			r, err := benchjobs.Idle(ctx, idle)
			return &r, brokeraddr.OverRedis(err)
		}
		r, err := benchjobs.Run(ctx, o, func(l benchjobs.Load) {
			fmt.Fprintf(progress, "%-8s %3d connections, depth %4d", l.Name, l.Connections, l.Depth)
			for _, s := range l.Servers {
				fmt.Fprintf(progress, " %9.0f jobs/s", s.PerSecond)
			}
			fmt.Fprintln(progress)
		})
		return &r, brokeraddr.OverRedis(err)
	})
}
