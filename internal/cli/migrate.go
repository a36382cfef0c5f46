package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"fiveways/internal/config"
	"fiveways/worker/carmine"
	"fiveways/worker/carmine/migrate"

	"github.com/spf13/cobra"
)

func migrateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "migrate", Short: "move what other systems hold into a broker",
		Example: "  fiveways migrate carmine redis://localhost:6379 mail\n  fiveways migrate rabbitmq --from amqp://admin@old:5672 --management http://admin@old:15672",
	}
	cmd.AddCommand(migrateCarmine(), migrateRabbitMQ())
	return cmd
}

func migrateCarmine() *cobra.Command {
	var to, as, file string
	var dryRun, keep, frozen, asJSON bool
	cmd := &cobra.Command{
		Use: "carmine redis://HOST:PORT[/DB] QUEUE", Short: "move a queue of Carmine, a library of Clojure, into a broker that runs", Args: cobra.ExactArgs(2),
		Long: `Moves all jobs of a queue that Carmine (2.x or 3.x) keeps on a Redis: ids, contents, attempts, times of the first enqueue, backoffs, locks and
lock times, ids that are remembered, and second versions that wait.

Bodies are thawed: a string is its text, a byte array its bytes, all else JSON. What cannot be thawed stays on the Redis, and is named.

Let the producers and workers of the queue use the broker first, or stop them. A job that a worker has is moved with its lock: when the lock runs out
the job is queued again, so let the workers finish, or the job is handled twice. What arrives meanwhile is moved too.

A job is removed from the Redis when the broker has answered that it is on disk. After a run that was broken off, run it again: what has arrived is
recognised by its id. With --keep the Redis keeps all, and with --dry-run nothing is done at all.`,
		Example: `  fiveways migrate carmine redis://localhost:6379 mail --dry-run
  fiveways migrate carmine redis://localhost:6379 mail
  fiveways migrate carmine redis://:secret@old:6379/2 mail --to redis://app:secret@broker:6380 --as post`,
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&to, "to", "", "redis://user:password@host:port/vhost of the broker (default: as the configuration says, 127.0.0.1:6380)")
	f.StringVar(&as, "as", "", "name of the queue there (default: the same)")
	f.BoolVar(&dryRun, "dry-run", false, "only tell what would be moved")
	f.BoolVar(&keep, "keep", false, "copy: leave everything on the Redis")
	f.BoolVar(&frozen, "frozen", false, "move bodies as Nippy froze them, for programs that thaw them (default: thawed)")
	f.StringVar(&file, "config", "", "TOML file with settings (or "+config.EnvFile+")")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		defer func() {
			if err != nil {
				err = overRedis{err}
			}
		}()
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		var codec carmine.Codec = carmine.Values{}
		if frozen {
			codec = carmine.Marks{}
		}
		from, err := carmine.Dial(args[0], carmine.Options{Codec: codec})
		if err != nil {
			return fmt.Errorf("%w: %w", errUsage, err)
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
			return printMigration(cmd.OutOrStdout(), r, asJSON, fmt.Sprintf("%d jobs and ids would be moved", r.Found))
		}
		if to == "" {
			if to, err = configuredRedis(ctx, file, ""); err != nil {
				return err
			}
		}
		target, err := migrate.Dial(to, as)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, target.Close()) }()
		r, err := migrate.Run(ctx, from, queue, target, migrate.Options{Keep: keep, Progress: progress(cmd.ErrOrStderr())})
		if r.Found == 0 && err == nil && !asJSON {
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "there is no queue %s on that Redis, or it is empty: nothing was moved\n", queue)
			return err
		}
		if r.Found == 0 && err != nil {
			return err
		}
		text := fmt.Sprintf("%d moved to queue %s (%d of them were there), %d done ids forgotten, %d failed", r.Moved, as, r.There, r.Forgotten, r.Failed)
		return errors.Join(printMigration(cmd.OutOrStdout(), r, asJSON, text), err)
	}
	return cmd
}

// progress tells once a second at most.
func progress(w io.Writer) func(migrate.Report) {
	last := time.Now()
	return func(r migrate.Report) {
		if time.Since(last) >= time.Second {
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
