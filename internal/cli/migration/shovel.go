package migration

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"fiveways.dev/fiveways/internal/cli/brokeraddr"
	"fiveways.dev/fiveways/internal/cli/brokerapi"
	"fiveways.dev/fiveways/internal/cli/display"
	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/internal/cli/listing"
	"fiveways.dev/fiveways/internal/config"
	"fiveways.dev/fiveways/internal/shovel"

	"github.com/spf13/cobra"
)

// ShovelCommand returns `fiveways shovel`.
func ShovelCommand() *cobra.Command {
	var from, to string
	var b brokeraddr.Flags
	var quiet bool
	var o shovel.Options
	cmd := &cobra.Command{
		Use: "shovel", Short: "move messages from a queue of an AMQP broker to another broker", Args: cobra.NoArgs,
		Long: `Moves messages between AMQP 0-9-1 brokers, Fiveways or RabbitMQ, at least once: a message is acknowledged at the source when the target
has confirmed it. After a connection failure it reconnects and moves the messages in flight again; so a message may arrive twice, and none is lost. To
resume a stopped shovel, start it again. Properties and headers stay as they are; a message with user_id needs a login of that name at the
target, or one with the tag impersonator.

--from and --to name brokers, by default the one on the data folder, else the one in the configuration. Passwords are in ` + config.EnvSourcePassword + ` and ` + config.EnvPassword + `, or asked for.`,
		Example: `  fiveways shovel --from amqp://app@old:5672/shop --from-queue orders --to-queue orders
  fiveways shovel --from-queue orders.dead --to-exchange orders --once
  fiveways shovel --from-queue audit --to amqps://app@far:5671 --to-queue audit --rate 500`,
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&from, "from", "", "amqp(s)://user@host:port/vhost of the source")
	f.StringVar(&o.Source.Queue, "from-queue", "", "queue of the source")
	f.StringVar(&to, "to", "", "amqp(s)://user@host:port/vhost of the target")
	f.StringVar(&o.Target.Queue, "to-queue", "", "queue of the target, declared durable when it is missing")
	f.StringVar(&o.Target.Exchange, "to-exchange", "", "exchange of the target, instead of --to-queue")
	f.StringVar(&o.Target.Key, "to-key", "", "routing key, with --to-exchange (default: that of each message)")
	f.BoolVar(&o.Once, "once", false, "stop when the source is empty")
	f.Uint64Var(&o.Limit, "limit", 0, "stop after this many messages (0 = never)")
	f.Float64Var(&o.Rate, "rate", 0, "maximum messages per second (0 = no limit)")
	f.IntVar(&o.Prefetch, "prefetch", shovel.DefaultPrefetch, "messages under way at a time")
	f.BoolVar(&quiet, "quiet", false, "print no progress")
	b.Add(cmd)
	cmd.AddCommand(listing.List(listing.Spec{
		Command: cobra.Command{
			Use: "list", Short: "list the shovels that the broker runs", Args: cobra.NoArgs,
			Long:    "They are parameters of the component shovel: `fiveways parameter set shovel NAME -` adds one, `fiveways parameter delete shovel NAME` ends it.",
			Example: "  fiveways shovel list\n  fiveways shovel list --vhost / --columns name,state,messages_moved",
		},
		Columns: "vhost,name,state,src_uri,dest_uri,messages_moved,reason", InVHost: true, Path: listing.InVHost("shovels"),
	}), shovelRestart())
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		if o.Source.Queue == "" || (o.Target.Queue == "") == (o.Target.Exchange == "") {
			return exitcode.Usage("name the source with --from-queue, and the target with --to-queue or --to-exchange")
		}
		if from != "" && to != "" {
			if err := b.UnlessURL("--from with --to"); err != nil {
				return err
			}
		}
		if o.Source.URI, err = b.AMQPURI(cmd, "from", from, config.EnvSourcePassword); err != nil {
			return err
		}
		if o.Target.URI, err = b.AMQPURI(cmd, "to", to, config.EnvPassword); err != nil {
			return err
		}
		if o.Source.URI == o.Target.URI && o.Source.Queue == o.Target.Queue {
			return exitcode.Usage("source and target are the same queue")
		}
		meter := display.NewMeter(cmd.ErrOrStderr(), messagesUnit)
		if !quiet {
			o.Progress = shovelProgress(cmd.ErrOrStderr(), meter, o.Limit, time.Now)
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		p, err := shovel.Run(ctx, o)
		meter.End()
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d messages moved\n", p.Moved)
		return err
	}
	return cmd
}

func shovelRestart() *cobra.Command {
	var vhost string
	return listing.OnVHost(brokerapi.RunningCommand(&cobra.Command{
		Use: "restart NAME", Short: "reconnect a shovel that the broker runs, at once", Args: cobra.ExactArgs(1), Example: "  fiveways shovel restart to-paris",
	}, func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
		return op.Do(cmd.Context(), http.MethodDelete, brokerapi.Path("shovels", "vhost", vhost, args[0], "restart"), nil, nil)
	}), &vhost)
}

// progressRound is the minimum interval between progress lines.
const progressRound = 5 * time.Second

// messagesUnit formats a number of messages.
func messagesUnit(n int64) string { return display.Count(strconv.FormatInt(n, 10)) + " messages" }

// shovelProgress prints interruptions at once, and shows the number of messages on a meter or in a
// line at intervals. limit is the total, or 0 if it is unknown.
func shovelProgress(w io.Writer, meter *display.Meter, limit uint64, now func() time.Time) func(shovel.Progress) {
	last, moved, breaks := now(), uint64(0), 0
	return func(p shovel.Progress) {
		if p.Breaks > breaks {
			breaks = p.Breaks
			meter.End()
			fmt.Fprintf(w, "%9d moved; %v; trying again\n", p.Moved, p.Err)
		}
		if meter.Shows() {
			meter.Set(int64(p.Moved), int64(limit)) // #nosec G115 -- nobody moves 2^63 messages
			return
		}
		if took := now().Sub(last); took >= progressRound {
			fmt.Fprintf(w, "%9d moved, %.0f/s\n", p.Moved, float64(p.Moved-moved)/took.Seconds())
			last, moved = now(), p.Moved
		}
	}
}
