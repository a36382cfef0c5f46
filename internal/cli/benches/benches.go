package benches

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"fiveways.dev/fiveways/internal/bench/amqp"
	benchetcd "fiveways.dev/fiveways/internal/bench/etcd"
	benchjobs "fiveways.dev/fiveways/internal/bench/jobs"
	"fiveways.dev/fiveways/internal/bench/option"
	benchsemaphore "fiveways.dev/fiveways/internal/bench/semaphore"
	benchsql "fiveways.dev/fiveways/internal/bench/sql"
	"fiveways.dev/fiveways/internal/cli/brokeraddr"
	"fiveways.dev/fiveways/internal/cli/exitcode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Verdicts are the exit codes of errors about a bench, each with a hint.
var Verdicts = []exitcode.Verdict{
	{Err: amqp.ErrInvalid, Code: exitcode.WrongUsage, Hint: "`fiveways bench amqp --help` lists the options, with examples."},
	{Err: benchsql.ErrInvalid, Code: exitcode.WrongUsage, Hint: "`fiveways bench sql --help` lists the options, with examples."},
	{Err: benchjobs.ErrInvalid, Code: exitcode.WrongUsage, Hint: "`fiveways bench jobs --help` lists the options, with examples."},
	{Err: benchsemaphore.ErrInvalid, Code: exitcode.WrongUsage, Hint: "`fiveways bench semaphore --help` lists the options, with examples."},
	{Err: benchetcd.ErrInvalid, Code: exitcode.WrongUsage, Hint: "`fiveways bench etcd --help` lists the options, with examples."},
}

// Command returns `fiveways bench`.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "measure a running broker",
		Example: `  fiveways bench amqp --duration 5s
  fiveways bench jobs --load cycle --connections 4,16`,
	}
	cmd.AddCommand(benchAMQPCommand(), benchSQLCommand(), benchJobsCommand(), benchEtcdCommand(), benchSemaphoreCommand())
	return cmd
}

// target is the server that a bench loads: the one at a URL, otherwise the broker that the flags,
// the data folder and the configuration name.
type target struct {
	brokeraddr.Flags
	key            string // of the protocol
	before, behind string // of the address in a URL
	named          string // the URL given by a flag
}

// flags adds the flags that all benches have. loads are the loads to choose from, or nil if there
// is only one.
func (t *target) flags(cmd *cobra.Command, o *option.Common, loads []string) *pflag.FlagSet {
	f := cmd.Flags()
	f.SortFlags = false
	t.Add(cmd)
	if loads != nil {
		f.StringSliceVar(&o.Loads, "load", o.Loads, "loads to run: "+strings.Join(loads, ", "))
	}
	f.DurationVar(&o.Duration, "duration", o.Duration, "how long each load runs")
	return f
}

// url returns the URL given by a flag or an argument, otherwise that of the broker.
func (t *target) url(ctx context.Context, args []string) (string, error) {
	if text := t.named + strings.Join(args, ""); text != "" {
		return text, t.UnlessURL("a URL")
	}
	address, err := t.Address(ctx, t.key)
	if err != nil {
		return "", err
	}
	return t.before + address + t.behind, nil
}

// result is what a bench measured, which can be printed as JSON or as text.
type result interface{ WriteText(io.Writer) error }

// run adds --json to the flags of a bench, and makes it call load, which a signal interrupts, with
// the URL of the target among the options. load prints its progress to progress.
func (t *target) run(cmd *cobra.Command, o *option.Common, load func(ctx context.Context, progress io.Writer) (result, error)) *cobra.Command {
	asJSON := cmd.Flags().Bool("json", false, "print the result as JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if o.URL, err = t.url(cmd.Context(), args); err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		r, err := load(ctx, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		if !*asJSON {
			return r.WriteText(cmd.OutOrStdout())
		}
		e := json.NewEncoder(cmd.OutOrStdout())
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	return cmd
}
