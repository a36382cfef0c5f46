package queues

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/cli/brokerapi"
	"fiveways.dev/fiveways/internal/cli/display"
	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/internal/cli/listing"
	"fiveways.dev/fiveways/internal/protocol/httpapi"

	"github.com/spf13/cobra"
)

// MessageCommand returns `fiveways message`.
func MessageCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "message",
		Short: "show, publish, move and delete messages, cancel and reschedule scheduled ones",
		Long:  "Showing messages changes nothing: none is taken, marked or moved.",
		Example: `  fiveways message list orders
  fiveways message scheduled --exchange reminders
  fiveways message cancel invoice-42 --exchange reminders
  fiveways message reschedule invoice-43 +90m --exchange reminders`,
	}
	cmd.AddCommand(messageList(), messageShow(), messagePublish(), messageGet(), messageMove(), messageDelete(), messageScheduled(), messageCancel(), messageReschedule())
	return cmd
}

func messageList() *cobra.Command {
	var vhost, state, output string
	var limit int
	cmd := listing.OnVHost(listing.Watched(&cobra.Command{Use: "list QUEUE", Short: "show the first messages of a queue", Example: "  fiveways message list orders --limit 10", Args: cobra.ExactArgs(1)},
		func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
			q := url.Values{"limit": {strconv.Itoa(limit)}, "state": {state}}
			if output == display.FormJSON {
				return listing.PrintAny(cmd, op, brokerapi.Path("queues", vhost, args[0], "messages")+"?"+q.Encode())
			}
			var page httpapi.MessagePage
			if err := op.Do(cmd.Context(), http.MethodGet, brokerapi.Path("queues", vhost, args[0], "messages")+"?"+q.Encode(), nil, &page); err != nil {
				return err
			}
			return display.Table(cmd.OutOrStdout(), "STATE\tID\tMESSAGE ID\tEXCHANGE\tKEY\t>RETURNS\tDUE\t>SIZE\tBODY", func(row func(...any)) {
				for _, m := range page.Messages {
					row(m.State, m.ID, m.MessageID, m.Exchange, m.RoutingKey, m.Returns, m.Due, display.Bytes(int64(m.Bytes)), display.Excerpt(m.Payload))
				}
			})
		}), &vhost)
	display.Flag(cmd, &output)
	cmd.Flags().StringVar(&state, "state", "", "only ready, unacked, scheduled or blocked ones")
	cmd.Flags().IntVar(&limit, "limit", 50, "maximum number")
	return cmd
}

// schedulePlace is the place of scheduled messages: a queue, or a delayed exchange.
type schedulePlace struct{ vhost, queue, exchange string }

// at adds the flags that name the place.
func (p *schedulePlace) at(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringVar(&p.queue, "queue", "", "messages scheduled in this queue")
	cmd.Flags().StringVar(&p.exchange, "exchange", "", "messages scheduled in this exchange, of type x-delayed-message")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if (p.queue == "") == (p.exchange == "") {
			return fmt.Errorf("%w: name the queue or exchange of the messages, with --queue or --exchange", exitcode.ErrUsage)
		}
		return run(cmd, args)
	}
	return listing.OnVHost(cmd, &p.vhost)
}

func (p *schedulePlace) path(parts ...string) string {
	if p.queue != "" {
		return brokerapi.Path(append([]string{"queues", p.vhost, p.queue, "scheduled"}, parts...)...)
	}
	return brokerapi.Path(append([]string{"exchanges", p.vhost, p.exchange, "scheduled"}, parts...)...)
}

// waiting selects scheduled messages: all with a message id, or the one with the id from a list.
type waiting struct {
	schedulePlace
	id string
}

// named adds the flags that select the messages to a command whose first argument is a message id,
// unless --id is given, followed by more arguments. run gets the API's path of the messages and the
// arguments after the message id.
func (w *waiting) named(cmd *cobra.Command, more int, run func(cmd *cobra.Command, op *brokerapi.Client, path string, rest []string) error) *cobra.Command {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		n := more
		if w.id == "" {
			n++
		}
		return cobra.ExactArgs(n)(cmd, args)
	}
	cmd = w.at(brokerapi.Command(cmd, func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
		if w.id != "" {
			return run(cmd, op, w.path("at", w.id), args)
		}
		return run(cmd, op, w.path(args[0]), args[1:])
	}))
	cmd.Flags().StringVar(&w.id, "id", "", "the one message with this `ID` from message scheduled, whether it has a message id or not")
	return cmd
}

func messageScheduled() *cobra.Command {
	var place schedulePlace
	var limit int
	var output string
	cmd := place.at(brokerapi.Command(&cobra.Command{Use: "scheduled", Short: "show scheduled messages", Example: "  fiveways message scheduled --exchange reminders", Args: cobra.NoArgs},
		func(cmd *cobra.Command, op *brokerapi.Client, _ []string) error {
			if output == display.FormJSON {
				return listing.PrintAny(cmd, op, place.path()+"?limit="+strconv.Itoa(limit))
			}
			var s httpapi.Schedule
			if err := op.Do(cmd.Context(), http.MethodGet, place.path()+"?limit="+strconv.Itoa(limit), nil, &s); err != nil {
				return err
			}
			err := display.Table(cmd.OutOrStdout(), "ID\tMESSAGE ID\tDUE\tEXCHANGE\tKEY\t>SIZE", func(row func(...any)) {
				for _, m := range s.Messages {
					row(m.ID, m.MessageID, m.Due, m.Exchange, m.RoutingKey, display.Bytes(int64(m.Bytes)))
				}
			})
			if err == nil && s.Next != "" {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "and more: %d wait\n", s.Total)
			}
			return err
		}))
	cmd.Flags().IntVar(&limit, "limit", 50, "maximum number, in the order of publishing")
	display.Flag(cmd, &output)
	return cmd
}

func messageCancel() *cobra.Command {
	return new(waiting).named(&cobra.Command{
		Use: "cancel [MESSAGE-ID]", Short: "remove the scheduled messages with this message id, or the one with --id",
		Example: `  fiveways message cancel invoice-42 --exchange reminders
  fiveways message cancel --id 1-1 --queue orders`,
	}, 0, func(cmd *cobra.Command, op *brokerapi.Client, path string, _ []string) error {
		var changed httpapi.Changed
		if err := op.Do(cmd.Context(), http.MethodDelete, path, nil, &changed); err != nil {
			return err
		}
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "%d cancelled\n", changed.Messages)
		return err
	})
}

func messageReschedule() *cobra.Command {
	return new(waiting).named(&cobra.Command{
		Use: "reschedule [MESSAGE-ID] TIME", Short: "change the time of the scheduled messages with this message id, or of the one with --id",
		Example: `  fiveways message reschedule invoice-43 +90m --exchange reminders
  fiveways message reschedule --id 1-1 +90m --queue orders`,
		Long: "TIME is a time such as 2030-01-31T08:00:00Z, or a duration from now: +90m, +36h.",
	}, 1, func(cmd *cobra.Command, op *brokerapi.Client, path string, args []string) error {
		due, err := moment(args[0], time.Now())
		if err != nil {
			return err
		}
		var changed httpapi.Changed
		if err := op.Do(cmd.Context(), http.MethodPut, path, httpapi.DueTime{Due: due}, &changed); err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d rescheduled to %s\n", changed.Messages, due.Format(time.RFC3339))
		return err
	})
}

// moment parses a time, or a duration from now.
func moment(text string, now time.Time) (time.Time, error) {
	if rest, ok := strings.CutPrefix(text, "+"); ok {
		if d, err := time.ParseDuration(rest); err == nil {
			return now.Add(d), nil
		}
	} else if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	return time.Time{}, fmt.Errorf("%w: %q is not a time such as 2030-01-31T08:00:00Z or +90m", exitcode.ErrUsage, text)
}
