package cli

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"fiveways/internal/protocol/httpapi"

	"github.com/spf13/cobra"
)

func messageCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "message",
		Short: "look at messages, publish, move and delete them, cancel and reschedule those that wait for their time",
		Long:  "Looking at messages changes nothing: none is taken, marked or moved.",
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
	cmd := onVHost(operate(&cobra.Command{Use: "list QUEUE", Short: "show the first messages of a queue", Args: cobra.ExactArgs(1)},
		func(cmd *cobra.Command, op *operator, args []string) error {
			q := url.Values{"limit": {strconv.Itoa(limit)}, "state": {state}}
			if output == outputJSON {
				return op.printAny(cmd, path("queues", vhost, args[0], "messages")+"?"+q.Encode())
			}
			var page httpapi.MessagePage
			if err := op.do(cmd.Context(), http.MethodGet, path("queues", vhost, args[0], "messages")+"?"+q.Encode(), nil, &page); err != nil {
				return err
			}
			return table(cmd.OutOrStdout(), "STATE\tID\tMESSAGE ID\tEXCHANGE\tKEY\tRETURNS\tDUE\tBYTES\tBODY", func(row func(...any)) {
				for _, m := range page.Messages {
					row(m.State, m.ID, m.MessageID, m.Exchange, m.RoutingKey, m.Returns, m.Due, m.Bytes, excerpt(m.Payload))
				}
			})
		}), &vhost)
	outputFlag(cmd, &output)
	cmd.Flags().StringVar(&state, "state", "", "only ready, unacked, scheduled or blocked ones")
	cmd.Flags().IntVar(&limit, "limit", 50, "show at most so many")
	return cmd
}

// excerptRunes is how much of a body a line shows.
const excerptRunes = 60

func excerpt(body string) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, body))
	if len(runes) > excerptRunes {
		return string(runes[:excerptRunes]) + "…"
	}
	return string(runes)
}

// schedulePlace is where messages wait for their time: in a queue, or in an exchange that holds them.
type schedulePlace struct{ vhost, queue, exchange string }

// at adds the flags that name the place.
func (p *schedulePlace) at(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringVar(&p.queue, "queue", "", "messages that wait in this queue")
	cmd.Flags().StringVar(&p.exchange, "exchange", "", "messages that wait in this exchange, of type x-delayed-message")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if (p.queue == "") == (p.exchange == "") {
			return fmt.Errorf("%w: say where the messages wait, with --queue or with --exchange", errUsage)
		}
		return run(cmd, args)
	}
	return onVHost(cmd, &p.vhost)
}

func (p *schedulePlace) path(id ...string) string {
	if p.queue != "" {
		return path(append([]string{"queues", p.vhost, p.queue, "scheduled"}, id...)...)
	}
	return path(append([]string{"exchanges", p.vhost, p.exchange, "scheduled"}, id...)...)
}

func messageScheduled() *cobra.Command {
	var place schedulePlace
	var limit int
	var output string
	cmd := place.at(operate(&cobra.Command{Use: "scheduled", Short: "show messages that wait for their time", Args: cobra.NoArgs},
		func(cmd *cobra.Command, op *operator, _ []string) error {
			if output == outputJSON {
				return op.printAny(cmd, place.path()+"?limit="+strconv.Itoa(limit))
			}
			var s httpapi.Schedule
			if err := op.do(cmd.Context(), http.MethodGet, place.path()+"?limit="+strconv.Itoa(limit), nil, &s); err != nil {
				return err
			}
			err := table(cmd.OutOrStdout(), "MESSAGE ID\tDUE\tEXCHANGE\tKEY\tBYTES", func(row func(...any)) {
				for _, m := range s.Messages {
					row(m.MessageID, m.Due, m.Exchange, m.RoutingKey, m.Bytes)
				}
			})
			if err == nil && s.Next != "" {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "and more: %d wait\n", s.Total)
			}
			return err
		}))
	cmd.Flags().IntVar(&limit, "limit", 50, "show at most so many, in the order in which they were published")
	outputFlag(cmd, &output)
	return cmd
}

func messageCancel() *cobra.Command {
	var place schedulePlace
	return place.at(operate(&cobra.Command{
		Use: "cancel MESSAGE-ID", Short: "remove the waiting messages with this id for good", Args: cobra.ExactArgs(1),
	}, func(cmd *cobra.Command, op *operator, args []string) error {
		var changed httpapi.Changed
		if err := op.do(cmd.Context(), http.MethodDelete, place.path(args[0]), nil, &changed); err != nil {
			return err
		}
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "%d cancelled\n", changed.Messages)
		return err
	}))
}

func messageReschedule() *cobra.Command {
	var place schedulePlace
	return place.at(operate(&cobra.Command{
		Use: "reschedule MESSAGE-ID TIME", Short: "give the waiting messages with this id another time", Args: cobra.ExactArgs(2),
		Long: "TIME is a moment such as 2030-01-31T08:00:00Z, or how long from now: +90m, +36h.",
	}, func(cmd *cobra.Command, op *operator, args []string) error {
		due, err := moment(args[1], time.Now())
		if err != nil {
			return err
		}
		var changed httpapi.Changed
		if err := op.do(cmd.Context(), http.MethodPut, place.path(args[0]), httpapi.DueTime{Due: due}, &changed); err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d rescheduled to %s\n", changed.Messages, due.Format(time.RFC3339))
		return err
	}))
}

// moment reads a time, or a duration from now on.
func moment(text string, now time.Time) (time.Time, error) {
	if rest, ok := strings.CutPrefix(text, "+"); ok {
		if d, err := time.ParseDuration(rest); err == nil {
			return now.Add(d), nil
		}
	} else if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	return time.Time{}, fmt.Errorf("%w: %q is no time; give one such as 2030-01-31T08:00:00Z or +90m", errUsage, text)
}
