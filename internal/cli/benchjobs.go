package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	benchjobs "fiveways/internal/bench/jobs"

	"github.com/spf13/cobra"
)

func benchJobsCommand() *cobra.Command {
	o, idle := benchjobs.DefaultOptions(), benchjobs.DefaultIdleOptions()
	var asJSON, isIdle bool
	cmd := &cobra.Command{
		Use:   "jobs [URL]",
		Short: "load queues of jobs over the Redis protocol and measure rates and latency",
		Long: `Loads queues of jobs over the Redis protocol: those of Fiveways with its JOB commands, or, on a real Redis, those that Lua scripts
with the same meaning keep there.

The loads run one after the other: enqueue (jobs put into a queue), work (taken from a backlog and reported done), cycle (enqueued, taken and
reported done), list (LPUSH, then BRPOP) and wire (three PINGs: the limit for a cycle). With a depth above 1 a connection pipelines so many commands, and takes so many jobs at once.
With --idle it measures what it costs to have many queues and takers that wait, and how long a job takes to wake one of them.
With --against the same runs on a second server, the two taking turns. Each load has a queue of its own, which is removed afterwards.`,
		Example: `  fiveways bench jobs
  fiveways bench jobs --load cycle --connections 4,16 --depth 1
  fiveways bench jobs redis://127.0.0.1:6380 --against redis://127.0.0.1:6379
  fiveways bench jobs redis://guest:guest@broker:6380 --json > result.json`,
		Args: cobra.MaximumNArgs(1),
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.Against, "against", o.Against, "URL of another server, to compare with")
	f.StringSliceVar(&o.Loads, "load", o.Loads, "loads to run")
	f.IntSliceVar(&o.Connections, "connections", o.Connections, "numbers of connections to run with")
	f.IntSliceVar(&o.Depths, "depth", o.Depths, "numbers of jobs in flight on a connection to run with")
	f.IntVar(&o.Size, "size", o.Size, "bytes of a body")
	f.IntVar(&o.Backlog, "backlog", o.Backlog, "jobs enqueued before a load that only takes")
	f.IntVar(&o.Repetitions, "repetitions", o.Repetitions, "how often each runs; the median counts")
	f.DurationVar(&o.Duration, "duration", o.Duration, "end of each load")
	f.BoolVar(&isIdle, "idle", false, "measure waiting takers instead of loads")
	f.IntVar(&idle.Queues, "queues", idle.Queues, "with --idle: empty queues")
	f.IntVar(&idle.Takers, "takers", idle.Takers, "with --idle: connections that wait at them")
	f.IntVar(&idle.Wakes, "wakes", idle.Wakes, "with --idle: jobs enqueued, one after the other")
	f.DurationVar(&idle.Quiet, "quiet", idle.Quiet, "with --idle: how long nothing happens")
	f.BoolVar(&asJSON, "json", false, "print the result as JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			o.URL = args[0]
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		if isIdle {
			idle.URL = o.URL
			result, err := benchjobs.Idle(ctx, idle)
			if err != nil {
				return overRedis{err}
			}
			return printResult(cmd, asJSON, &result)
		}
		result, err := benchjobs.Run(ctx, o, func(l benchjobs.Load) {
			fmt.Fprintf(cmd.ErrOrStderr(), "%-8s %3d connections, depth %4d", l.Name, l.Connections, l.Depth)
			for _, s := range l.Servers {
				fmt.Fprintf(cmd.ErrOrStderr(), " %9.0f jobs/s", s.PerSecond)
			}
			fmt.Fprintln(cmd.ErrOrStderr())
		})
		if err != nil {
			return overRedis{err}
		}
		return printResult(cmd, asJSON, &result)
	}
	return cmd
}

// printResult prints what was measured, for a program or for a reader.
func printResult(cmd *cobra.Command, asJSON bool, result interface{ WriteText(io.Writer) error }) error {
	if !asJSON {
		return result.WriteText(cmd.OutOrStdout())
	}
	e := json.NewEncoder(cmd.OutOrStdout())
	e.SetIndent("", "  ")
	return e.Encode(result)
}
