package migration

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"fiveways.dev/fiveways/internal/cli/brokeraddr"
	"fiveways.dev/fiveways/internal/cli/brokerapi"
	"fiveways.dev/fiveways/internal/cli/display"
	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/internal/cli/input"
	"fiveways.dev/fiveways/internal/config"
	"fiveways.dev/fiveways/internal/shovel/migrate"

	"github.com/spf13/cobra"
)

// errNotMoved means that a migration left something behind.
var errNotMoved = errors.New("not everything was moved")

func migrateRabbitMQ() *cobra.Command {
	var from, management, file, to, queues, output string
	var o migrate.Options
	cmd := brokerapi.RunningCommand(&cobra.Command{
		Use: "rabbitmq", Short: "move definitions and messages of a RabbitMQ into a running broker", Args: cobra.NoArgs,
		Long: `Reads the definitions of a RabbitMQ (3.x or 4.x) over its management API, or from an exported file, and adds them to a broker: users with
their password hashes, virtual hosts, permissions, policies, exchanges, queues, bindings. Then it moves the messages of all queues, each at least
once and in order, with their properties, headers and routing keys; the exchange that they name is another one. A message leaves the RabbitMQ when
the broker has confirmed it.

Let publishers and consumers use the broker first, or stop them; messages that arrive meanwhile are moved too. After an interrupted run, run it again.
Streams and exclusive queues are not drained.

The login at the RabbitMQ needs the tag administrator, and permissions on all virtual hosts. Its password is in ` + config.EnvSourcePassword + `, or asked for. At the
broker, a user fiveways-migrate publishes; it is made for the run and deleted after it.`,
		Example: `  fiveways migrate rabbitmq --from amqp://admin@old:5672 --management http://admin@old:15672 --dry-run
  fiveways migrate rabbitmq --from amqp://admin@old:5672 --management http://admin@old:15672
  fiveways migrate rabbitmq --definitions definitions.json --only-definitions
  fiveways migrate rabbitmq --from amqps://admin@old --management https://admin@old:15671 --vhost shop --queues '^orders'`,
	}, func(cmd *cobra.Command, op *brokerapi.Client, _ []string) (err error) {
		if err := migrationSource(cmd, &o, from, management, file); err != nil {
			return err
		}
		if o.Queues, err = regexp.Compile(queues); err != nil {
			return exitcode.Usage("--queues: %v", err)
		}
		o.Target = op.Do
		if !o.DryRun && !o.SkipDrain {
			if o.TargetURI, err = migrationTarget(cmd, op, to); err != nil {
				return err
			}
		}
		meter := display.NewMeter(cmd.ErrOrStderr(), messagesUnit)
		o.Progress = migrationProgress(cmd.ErrOrStderr(), meter, time.Now)
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		r, err := migrate.Run(ctx, o)
		meter.End()
		return errors.Join(printRabbitMigration(cmd.OutOrStdout(), output, o.DryRun || o.SkipDrain, r), err, leftBehind(r))
	})
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&from, "from", "", "amqp(s)://user@host:port of the RabbitMQ")
	f.StringVar(&management, "management", "", "http(s)://user@host:15672 of its management API")
	f.StringVar(&file, "definitions", "", "file that was exported there, instead of --management or of the definitions it has now")
	f.StringVar(&to, "to", "", "amqp(s)://host:port of the broker (default: as the broker that --url or --data names says)")
	f.StringVar(&o.VHost, "vhost", "", "only this virtual host, created if missing; without users and permissions")
	f.StringVar(&queues, "queues", "", "move the messages of queues only whose names match this regular expression")
	f.BoolVar(&o.SkipDrain, "only-definitions", false, "move no messages")
	f.BoolVar(&o.DryRun, "dry-run", false, "change nothing; only show what would be moved")
	display.Flag(cmd, &output)
	return cmd
}

// migrationSource sets the source of a migration in o.
func migrationSource(cmd *cobra.Command, o *migrate.Options, from, management, file string) (err error) {
	if file == "" && management == "" {
		return exitcode.Usage("name the RabbitMQ with --management, or a file with --definitions")
	}
	if from == "" && !o.DryRun && !o.SkipDrain {
		return exitcode.Usage("name the RabbitMQ whose messages are to be moved with --from, or say --only-definitions")
	}
	if file != "" {
		if o.Definitions, err = input.ReadAll(cmd, file); err != nil {
			return err
		}
	}
	if management != "" {
		source, err := brokerapi.Remote(cmd, brokerapi.Address{URL: management, PasswordVariable: config.EnvSourcePassword})
		if err != nil {
			return err
		}
		o.Source = source.Do
	}
	if from != "" {
		o.SourceURI, err = brokeraddr.AMQPURI(cmd, "from", from, config.EnvSourcePassword)
	}
	return err
}

// migrationTarget returns the AMQP URI of the target: to, or the broker of op.
func migrationTarget(cmd *cobra.Command, op *brokerapi.Client, to string) (string, error) {
	if to != "" {
		return to, brokeraddr.CheckAMQP("to", to)
	}
	address, err := brokeraddr.ServedAt(cmd.Context(), op, "amqp")
	if err == nil && address == "" {
		err = brokeraddr.Unserved("amqp")
	}
	return "amqp://" + address, err
}

// migrationProgress shows how much of a queue has been moved, on a meter or in a line at intervals.
func migrationProgress(w io.Writer, meter *display.Meter, now func() time.Time) func(migrate.Queue) {
	last := now()
	return func(q migrate.Queue) {
		if meter.Shows() {
			meter.Set(int64(q.Moved), int64(q.Messages))
			return
		}
		if now().Sub(last) >= progressRound {
			last = now()
			fmt.Fprintf(w, "%s %s: %d of %d moved\n", q.VHost, q.Name, q.Moved, q.Messages)
		}
	}
}

func printRabbitMigration(out io.Writer, output string, only bool, r migrate.Report) error {
	if output == display.FormJSON {
		return display.PrintJSON(out, r)
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(r.Definitions)) {
		parts = append(parts, fmt.Sprintf("%d %s", r.Definitions[kind], strings.ReplaceAll(kind, "_", " ")))
	}
	fmt.Fprintf(out, "definitions: %s\n", strings.Join(parts, ", "))
	if len(r.Passwords) > 0 {
		fmt.Fprintf(out, "password hashes, which replace those of users with the same names: %s\n", strings.Join(r.Passwords, ", "))
	}
	err := display.Table(out, "VHOST\tQUEUE\t>FOUND\t>MOVED\tREMARK", func(row func(...any)) {
		for _, q := range r.Queues {
			row(q.VHost, q.Name, q.Messages, q.Moved, q.Skipped+q.Error)
		}
	})
	if err == nil && !only {
		_, err = fmt.Fprintf(out, "%d messages moved\n", r.Moved)
	}
	return err
}

func leftBehind(r migrate.Report) error {
	if r.Failed == 0 {
		return nil
	}
	return fmt.Errorf("%w: %d queues, see their remarks; run it again to continue", errNotMoved, r.Failed)
}
