package migration

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"fiveways.dev/fiveways/internal/cli/brokeraddr"
	"fiveways.dev/fiveways/internal/cli/display"
	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/worker/carmine"
	"fiveways.dev/fiveways/worker/carmine/migrate"

	"github.com/spf13/cobra"
)

// Verdicts are the exit codes of errors about migrations, each with a hint.
var Verdicts = []exitcode.Verdict{
	{Err: errNotMoved, Code: exitcode.Failure, Hint: "Messages that were not moved are still at the source."},
}

// MigrateCommand returns `fiveways migrate`.
func MigrateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "migrate", Short: "move data of other systems into a broker",
		Example: "  fiveways migrate carmine redis://localhost:6379 mail\n  fiveways migrate rabbitmq --from amqp://admin@old:5672 --management http://admin@old:15672",
	}
	cmd.AddCommand(migrateCarmine(), migrateRabbitMQ())
	return cmd
}

func migrateCarmine() *cobra.Command {
	var to, as string
	var dryRun, keep, frozen bool
	var b brokeraddr.Flags
	cmd := &cobra.Command{
		Use: "carmine redis://HOST:PORT[/DB] QUEUE", Short: "move a queue of Carmine, a Clojure library, into a running broker", Args: cobra.ExactArgs(2),
		Long: `Moves all jobs of a queue that Carmine (2.x or 3.x) keeps on a Redis: ids, contents, attempts, times of the first enqueue, backoffs, locks and
lock times, remembered ids, and waiting second versions.

Bodies are thawed: a string is its text, a byte array its bytes, everything else JSON. Jobs that cannot be thawed stay on the Redis, and are reported.

Let the producers and workers of the queue use the broker first, or stop them. A job that a worker has is moved with its lock: when the lock expires
the job is queued again, so let the workers finish, or the job is handled twice. Jobs that arrive meanwhile are moved too.

A job is removed from the Redis when the broker has confirmed that it is on disk. After an interrupted run, run it again: jobs that have arrived are
recognised by their ids. With --keep the Redis keeps everything, and with --dry-run nothing is changed at all.`,
		Example: `  fiveways migrate carmine redis://localhost:6379 mail --dry-run
  fiveways migrate carmine redis://localhost:6379 mail
  fiveways migrate carmine redis://:secret@old:6379/2 mail --to redis://app:secret@broker:6380 --as post`,
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&to, "to", "", "redis://user:password@host:port/vhost of the broker (default: the broker on the data folder, else the one in the configuration, 127.0.0.1:6380)")
	f.StringVar(&as, "as", "", "name of the queue there (default: the same)")
	f.BoolVar(&dryRun, "dry-run", false, "change nothing; only show what would be moved")
	f.BoolVar(&keep, "keep", false, "copy: leave everything on the Redis")
	f.BoolVar(&frozen, "frozen", false, "move bodies as Nippy froze them, for programs that thaw them (default: thawed)")
	b.Add(cmd)
	asJSON := display.LineFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		defer func() {
			if err != nil {
				err = brokeraddr.OverRedis(err)
			}
		}()
		if to != "" {
			if err := b.UnlessURL("--to"); err != nil {
				return err
			}
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		var codec carmine.Codec = carmine.Values{}
		if frozen {
			codec = carmine.Marks{}
		}
		from, err := carmine.Dial(args[0], carmine.Options{Codec: codec})
		if err != nil {
			return fmt.Errorf("%w: %w", exitcode.ErrUsage, err)
		}
		defer func() { err = errors.Join(err, from.Close()) }()
		queue := args[1]
		if as == "" {
			as = queue
		}
		if dryRun {
			r, err := migrate.Count(ctx, from, queue)
			if err != nil {
				return err
			}
			return printMigration(cmd.OutOrStdout(), r, asJSON(), fmt.Sprintf("%d jobs and ids would be moved", r.Found))
		}
		if to == "" {
			if to, err = b.RedisURL(ctx); err != nil {
				return err
			}
		}
		target, err := migrate.Dial(to, as)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, target.Close()) }()
		meter := display.NewMeter(cmd.ErrOrStderr(), jobsUnit)
		whole := 0
		if meter.Shows() {
			counted, err := migrate.Count(ctx, from, queue)
			if err != nil {
				return err
			}
			whole = counted.Found
		}
		r, err := migrate.Run(ctx, from, queue, target, migrate.Options{Keep: keep, Progress: progress(cmd.ErrOrStderr(), meter, whole)})
		meter.End()
		if r.Found == 0 && err == nil && !asJSON() {
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "there is no queue %s on that Redis, or it is empty: nothing was moved\n", queue)
			return err
		}
		if r.Found == 0 && err != nil {
			return err
		}
		text := fmt.Sprintf("%d moved to queue %s (%d of them were there), %d done ids forgotten, %d failed", r.Moved, as, r.There, r.Forgotten, r.Failed)
		return errors.Join(printMigration(cmd.OutOrStdout(), r, asJSON(), text), err)
	}
	return cmd
}

func jobsUnit(n int64) string { return display.Count(strconv.FormatInt(n, 10)) + " jobs" }

// progress shows how many of whole jobs have been moved, on a meter or in a line every second.
func progress(w io.Writer, meter *display.Meter, whole int) func(migrate.Report) {
	last := time.Now()
	return func(r migrate.Report) {
		if meter.Shows() {
			meter.Set(int64(r.Found), int64(max(whole, r.Found)))
		} else if time.Since(last) >= time.Second {
			last = time.Now()
			fmt.Fprintf(w, "%9d found, %9d moved\n", r.Found, r.Moved)
		}
	}
}

func printMigration(w io.Writer, r migrate.Report, asJSON bool, text string) error {
	if asJSON {
		return json.NewEncoder(w).Encode(r)
	}
	var parts []string
	for _, s := range r.StateNames() {
		parts = append(parts, fmt.Sprintf("%d %s", r.States[s], strings.ReplaceAll(string(s), "-", " ")))
	}
	if len(parts) > 0 {
		fmt.Fprintln(w, "found "+strings.Join(parts, ", "))
	}
	_, err := fmt.Fprintln(w, text)
	return err
}
