package queues

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"fiveways.dev/fiveways/internal/cli/brokerapi"
	"fiveways.dev/fiveways/internal/cli/display"
	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/internal/cli/input"
	"fiveways.dev/fiveways/internal/cli/listing"

	"github.com/spf13/cobra"
)

// QueueCommand returns `fiveways queue`.
func QueueCommand() *cobra.Command {
	return listing.Group("queue", "list, show, add, purge, redrive and delete queues", "", `  fiveways queue list --sort ready --reverse
  fiveways queue add orders --argument x-dead-letter-exchange=dlx --argument x-max-length=100000
  fiveways queue show orders -o json
  fiveways queue redrive orders.dead --rate 100
  fiveways queue purge orders --yes`,
		listing.List(listing.Spec{
			Command: cobra.Command{
				Use: "list", Short: "list the queues with their messages, rates and consumers", Args: cobra.NoArgs,
				Long: "READY messages wait for a consumer, UNACKED ones are with a consumer. IN is published, OUT delivered in a second. ACTIVITY is idle, running or growing.",
				Example: `  fiveways queue list --sort ready --reverse
  fiveways queue list --match '^orders' --columns name,ready,memory,message_bytes`,
			},
			Columns: "vhost,name,ready,unacked,in,out,consumers,activity,policy", Names: queueColumns, InVHost: true, Path: listing.InVHost("queues"),
		}), queueShow(), queueAdd(), queueDelete(), queuePurge(), queueRedrive())
}

// queueColumns maps short column names to members of a queue.
var queueColumns = map[string]string{
	"ready": "messages_ready", "unacked": "messages_unacknowledged", "scheduled": "messages_scheduled",
	"in": "message_stats.publish_details.rate", "out": "message_stats.deliver_get_details.rate", "acked": "message_stats.ack_details.rate",
}

func queueShow() *cobra.Command {
	var vhost string
	return listing.OnVHost(listing.Show(&cobra.Command{Use: "show QUEUE", Short: "show the details of a queue", Example: "  fiveways queue show orders -o json", Args: cobra.ExactArgs(1)},
		func(args []string) string { return brokerapi.Path("queues", vhost, args[0]) }), &vhost)
}

// declaration is the declaration of a queue or an exchange, with the names of the API.
type declaration struct {
	Type       string         `json:"type,omitempty"`
	Durable    bool           `json:"durable"`
	AutoDelete bool           `json:"auto_delete"`
	Internal   bool           `json:"internal,omitempty"`
	Arguments  map[string]any `json:"arguments"`

	transient bool
	given     []string
}

func (d *declaration) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&d.transient, "transient", false, "delete it at a restart")
	cmd.Flags().BoolVar(&d.AutoDelete, "auto-delete", false, "delete it with its last consumer (an exchange: with its last binding)")
	input.ArgumentsFlag(cmd, &d.given)
}

// fill sets the fields of d from the flags.
func (d *declaration) fill() (err error) {
	d.Durable = !d.transient
	d.Arguments, err = input.Arguments(d.given)
	return err
}

func queueAdd() *cobra.Command {
	var vhost string
	var d declaration
	cmd := listing.OnVHost(brokerapi.Command(&cobra.Command{
		Use: "add QUEUE", Short: "add a queue; an existing one must be the same", Args: cobra.ExactArgs(1),
		Example: "  fiveways queue add orders --argument x-message-ttl=60000 --argument x-overflow=reject-publish",
	}, func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
		if err := d.fill(); err != nil {
			return err
		}
		return op.Do(cmd.Context(), http.MethodPut, brokerapi.Path("queues", vhost, args[0]), d, nil)
	}), &vhost)
	d.flags(cmd)
	return cmd
}

// conditions returns the query of a conditional deletion.
func conditions(names map[string]bool) string {
	q := url.Values{}
	for name, set := range names {
		if set {
			q.Set(name, "true")
		}
	}
	if len(q) == 0 {
		return ""
	}
	return "?" + q.Encode()
}

func queueDelete() *cobra.Command {
	var vhost string
	var unused, empty bool
	var consent input.Consent
	cmd := listing.OnVHost(brokerapi.Command(&cobra.Command{
		Use: "delete QUEUE", Short: "delete a queue with all its messages", Args: cobra.ExactArgs(1),
		Example: "  fiveways queue delete orders --if-empty --yes",
	},
		func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
			if err := askAboutMessages(cmd, op, &consent, "Delete queue '%s' in vhost '%s' with all its messages (%s now)?", vhost, args[0], "messages"); err != nil {
				return err
			}
			at := brokerapi.Path("queues", vhost, args[0]) + conditions(map[string]bool{"if-unused": unused, "if-empty": empty})
			return op.Do(cmd.Context(), http.MethodDelete, at, nil, nil)
		}), &vhost)
	cmd.Flags().BoolVar(&unused, "if-unused", false, "only if it has no consumers")
	cmd.Flags().BoolVar(&empty, "if-empty", false, "only if it has no messages")
	return consent.Flag(cmd)
}

// askAboutMessages asks for consent to lose messages, and says how many a queue has. member is the
// member that counts them.
func askAboutMessages(cmd *cobra.Command, op *brokerapi.Client, consent *input.Consent, question, vhost, queue, member string) error {
	if consent.Given() {
		return nil
	}
	at := brokerapi.Path("queues", vhost, queue)
	var q display.Object
	if err := op.Read(cmd.Context(), at, &q); err != nil {
		return err
	}
	return consent.Ask(cmd, question, queue, vhost, display.Amount(member, q[member]))
}

func queuePurge() *cobra.Command {
	var vhost string
	var consent input.Consent
	return consent.Flag(listing.OnVHost(brokerapi.Command(&cobra.Command{
		Use: "purge QUEUE", Short: "remove all ready messages", Args: cobra.ExactArgs(1),
		Example: "  fiveways queue purge orders --yes",
	},
		func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
			if err := askAboutMessages(cmd, op, &consent, "Remove all ready messages of queue '%s' in vhost '%s' (%s now)?", vhost, args[0], "messages_ready"); err != nil {
				return err
			}
			return op.Do(cmd.Context(), http.MethodDelete, brokerapi.Path("queues", vhost, args[0], "contents"), nil, nil)
		}), &vhost))
}

// transfer defines which messages of a queue are moved where, and how fast.
type transfer struct {
	To     string  `json:"to,omitempty"`
	Filter string  `json:"filter,omitempty"`
	Limit  int     `json:"limit,omitempty"`
	Rate   float64 `json:"rate,omitempty"`

	wait bool // for the end of the task
}

func (tr *transfer) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&tr.Filter, "filter", "", "only messages that match this selector")
	cmd.Flags().IntVar(&tr.Limit, "limit", 0, "maximum number of messages (0 = all)")
	cmd.Flags().Float64Var(&tr.Rate, "rate", 0, "maximum messages per second (0 = no limit)")
	cmd.Flags().BoolVar(&tr.wait, "wait", false, "wait until the task ends, which goes on without the command")
}

func queueRedrive() *cobra.Command {
	var vhost, output string
	var tr transfer
	cmd := listing.OnVHost(brokerapi.RunningCommand(&cobra.Command{
		Use: "redrive QUEUE", Short: "send dead letters back to the queues they came from", Args: cobra.ExactArgs(1),
		Example: "  fiveways queue redrive orders.dead --rate 100\n  fiveways queue redrive orders.dead --wait",
		Long:    "Starts a task in the broker and shows it; `fiveways task show ID` shows its progress, and --wait waits for its end.",
	}, func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
		if err := tr.check(); err != nil {
			return err
		}
		return startTask(cmd, op, brokerapi.Path("queues", vhost, args[0], "redrive"), &tr, output)
	}), &vhost)
	tr.flags(cmd)
	display.Flag(cmd, &output)
	cmd.Flags().StringVar(&tr.To, "to", "", "to this queue instead")
	return cmd
}

// check rejects invalid numbers.
func (tr *transfer) check() error {
	if tr.Limit < 0 {
		return exitcode.Usage("--limit is %d; it must be 0 or more", tr.Limit)
	}
	if !(tr.Rate >= 0) { // rejects NaN too
		return exitcode.Usage("--rate is %v; it must be 0 or more", tr.Rate)
	}
	return nil
}

// startTask starts a task and shows it, after its end if tr says so.
func startTask(cmd *cobra.Command, op *brokerapi.Client, at string, tr *transfer, output string) error {
	var task display.Object
	if err := op.Do(cmd.Context(), http.MethodPost, at, tr, &task); err != nil {
		return err
	}
	if tr.wait {
		var err error
		if task, err = endOfTask(cmd, op, display.Cell(task["id"])); err != nil {
			return err
		}
	}
	if output == display.FormJSON {
		return display.PrintJSON(cmd.OutOrStdout(), task)
	}
	return display.PrintTable(cmd.OutOrStdout(), display.SplitList(taskColumns), nil, []display.Object{task})
}

// taskRound is the interval at which a command polls a task.
const taskRound = 200 * time.Millisecond

// endOfTask waits until a task has ended, and shows its progress.
func endOfTask(cmd *cobra.Command, op *brokerapi.Client, id string) (display.Object, error) {
	meter := display.NewMeter(cmd.ErrOrStderr(), func(n int64) string { return display.Count(strconv.FormatInt(n, 10)) + " messages" })
	defer meter.End()
	number := func(v any) int64 {
		n, _ := v.(json.Number)
		whole, _ := n.Int64() //nolint:errcheck // a missing number counts as 0
		return whole
	}
	tick := time.NewTicker(taskRound)
	defer tick.Stop()
	for {
		var task display.Object
		if err := op.Read(cmd.Context(), brokerapi.Path("tasks", id), &task); err != nil {
			return nil, err
		}
		if task["state"] != "running" {
			return task, nil
		}
		moved := number(task["moved"])
		meter.Set(moved, moved+number(task["remaining"]))
		select {
		case <-cmd.Context().Done():
			return task, cmd.Context().Err()
		case <-tick.C:
		}
	}
}

const taskColumns = "id,kind,queue,state,moved,skipped,remaining,reason"

// TaskCommand returns `fiveways task`.
func TaskCommand() *cobra.Command {
	var vhost string
	return listing.Group("task", "show and stop moves and redrives that run in the broker", "", `  fiveways task list orders.dead
  fiveways task show 3
  fiveways task stop 3`,
		listing.OnVHost(listing.List(listing.Spec{
			Command: cobra.Command{Use: "list QUEUE", Short: "list the tasks of a queue", Example: "  fiveways task list orders.dead", Args: cobra.ExactArgs(1)},
			Columns: taskColumns, Path: func(args []string, _ string) string { return brokerapi.Path("queues", vhost, args[0], "tasks") },
		}), &vhost),
		listing.Show(&cobra.Command{Use: "show ID", Short: "show a task", Example: "  fiveways task show 3", Args: cobra.ExactArgs(1)}, func(args []string) string { return brokerapi.Path("tasks", args[0]) }),
		brokerapi.RunningCommand(&cobra.Command{Use: "stop ID", Short: "stop a task; messages already moved stay moved", Example: "  fiveways task stop 3", Args: cobra.ExactArgs(1)},
			func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
				return op.Do(cmd.Context(), http.MethodDelete, brokerapi.Path("tasks", args[0]), nil, nil)
			}))
}
