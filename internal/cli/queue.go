package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
)

// group is a command that only has others below it.
func group(use, short, long, example string, below ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Example: example}
	cmd.AddCommand(below...)
	return cmd
}

// inVHost is the path of the objects of a kind: of one virtual host, or of all.
func inVHost(kind ...string) func(args []string, vhost string) string {
	return func(_ []string, vhost string) string {
		if vhost == "" {
			return path(kind...)
		}
		return path(append(kind, vhost)...)
	}
}

func queueCommand() *cobra.Command {
	return group("queue", "list, show, add, purge, redrive and delete queues", "", `  fiveways queue list --sort messages --reverse
  fiveways queue add orders --argument x-dead-letter-exchange=dlx --argument x-max-length=100000
  fiveways queue show orders -o json
  fiveways queue redrive orders.dead --rate 100
  fiveways queue purge orders`,
		list(listing{
			command: cobra.Command{Use: "list", Short: "list the queues and how much they hold", Args: cobra.NoArgs},
			columns: "vhost,name,messages_ready,messages_unacknowledged,consumers,state,policy", inVHost: true, path: inVHost("queues"),
		}), queueShow(), queueAdd(), queueDelete(), queuePurge(), queueRedrive())
}

func queueShow() *cobra.Command {
	var vhost string
	return onVHost(show(&cobra.Command{Use: "show QUEUE", Short: "show all that is known of a queue", Args: cobra.ExactArgs(1)},
		func(args []string) string { return path("queues", vhost, args[0]) }), &vhost)
}

// declaration is what the declaration of a queue or an exchange has, in the names of the API.
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
	cmd.Flags().BoolVar(&d.transient, "transient", false, "it does not outlive a restart")
	cmd.Flags().BoolVar(&d.AutoDelete, "auto-delete", false, "it goes when nobody uses it any more")
	argumentsFlag(cmd, &d.given)
}

// fill makes d of what the user gave.
func (d *declaration) fill() (err error) {
	d.Durable = !d.transient
	d.Arguments, err = arguments(d.given)
	return err
}

func argumentsFlag(cmd *cobra.Command, given *[]string) {
	cmd.Flags().StringArrayVar(given, "argument", nil, "NAME=VALUE, a number, true, false, other JSON or else a text; may be repeated")
}

// arguments reads NAME=VALUE pairs. A value that is JSON is what it says, any other one is a text.
func arguments(given []string) (map[string]any, error) {
	all := map[string]any{}
	for _, pair := range given {
		name, text, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%w: %q is no NAME=VALUE", errUsage, pair)
		}
		all[name] = text
		if json.Valid([]byte(text)) {
			all[name] = json.RawMessage(text)
		}
	}
	return all, nil
}

func queueAdd() *cobra.Command {
	var vhost string
	var d declaration
	cmd := onVHost(operate(&cobra.Command{
		Use: "add QUEUE", Short: "add a queue; one that is there already must be the same", Args: cobra.ExactArgs(1),
		Example: "  fiveways queue add orders --argument x-message-ttl=60000 --argument x-overflow=reject-publish",
	}, func(cmd *cobra.Command, op *operator, args []string) error {
		if err := d.fill(); err != nil {
			return err
		}
		return op.do(cmd.Context(), http.MethodPut, path("queues", vhost, args[0]), d, nil)
	}), &vhost)
	d.flags(cmd)
	return cmd
}

// conditions are the query of a deletion that depends on something.
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
	cmd := onVHost(operate(&cobra.Command{Use: "delete QUEUE", Short: "delete a queue with all that is in it", Args: cobra.ExactArgs(1)},
		func(cmd *cobra.Command, op *operator, args []string) error {
			at := path("queues", vhost, args[0]) + conditions(map[string]bool{"if-unused": unused, "if-empty": empty})
			return op.do(cmd.Context(), http.MethodDelete, at, nil, nil)
		}), &vhost)
	cmd.Flags().BoolVar(&unused, "if-unused", false, "only when it has no consumer")
	cmd.Flags().BoolVar(&empty, "if-empty", false, "only when it holds no message")
	return cmd
}

func queuePurge() *cobra.Command {
	var vhost string
	return onVHost(operate(&cobra.Command{Use: "purge QUEUE", Short: "remove all ready messages for good", Args: cobra.ExactArgs(1)},
		func(cmd *cobra.Command, op *operator, args []string) error {
			return op.do(cmd.Context(), http.MethodDelete, path("queues", vhost, args[0], "contents"), nil, nil)
		}), &vhost)
}

// transfer says which messages of a queue go where, and how fast.
type transfer struct {
	To     string  `json:"to,omitempty"`
	Filter string  `json:"filter,omitempty"`
	Limit  int     `json:"limit,omitempty"`
	Rate   float64 `json:"rate,omitempty"`
}

func (tr *transfer) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&tr.Filter, "filter", "", "only messages that this selector is true for")
	cmd.Flags().IntVar(&tr.Limit, "limit", 0, "at most so many messages (0 = all that are there)")
	cmd.Flags().Float64Var(&tr.Rate, "rate", 0, "at most so many messages a second (0 = as fast as it goes)")
}

func queueRedrive() *cobra.Command {
	var vhost string
	var tr transfer
	cmd := onVHost(operateRunning(&cobra.Command{
		Use: "redrive QUEUE", Short: "send dead letters back to the queues where they died", Args: cobra.ExactArgs(1),
		Long: "Starts a task of the broker and shows it; `fiveways task show ID` tells how far it is.",
	}, func(cmd *cobra.Command, op *operator, args []string) error {
		return startTask(cmd, op, path("queues", vhost, args[0], "redrive"), tr)
	}), &vhost)
	tr.flags(cmd)
	cmd.Flags().StringVar(&tr.To, "to", "", "to this queue instead")
	return cmd
}

// startTask asks for a task and shows it.
func startTask(cmd *cobra.Command, op *operator, at string, in any) error {
	var task object
	if err := op.do(cmd.Context(), http.MethodPost, at, in, &task); err != nil {
		return err
	}
	return printTable(cmd.OutOrStdout(), splitList(taskColumns), []object{task})
}

const taskColumns = "id,kind,queue,state,moved,skipped,remaining,reason"

func taskCommand() *cobra.Command {
	var vhost string
	return group("task", "show and stop moves and redrives that run in the broker", "", `  fiveways task list orders.dead
  fiveways task show 3
  fiveways task stop 3`,
		onVHost(list(listing{
			command: cobra.Command{Use: "list QUEUE", Short: "list the tasks of a queue", Args: cobra.ExactArgs(1)},
			columns: taskColumns, path: func(args []string, _ string) string { return path("queues", vhost, args[0], "tasks") },
		}), &vhost),
		show(&cobra.Command{Use: "show ID", Short: "show a task", Args: cobra.ExactArgs(1)}, func(args []string) string { return path("tasks", args[0]) }),
		operateRunning(&cobra.Command{Use: "stop ID", Short: "stop a task; what it has moved stays moved", Args: cobra.ExactArgs(1)},
			func(cmd *cobra.Command, op *operator, args []string) error {
				return op.do(cmd.Context(), http.MethodDelete, path("tasks", args[0]), nil, nil)
			}))
}
