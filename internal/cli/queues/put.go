package queues

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/cli/brokerapi"
	"fiveways.dev/fiveways/internal/cli/display"
	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/internal/cli/input"
	"fiveways.dev/fiveways/internal/cli/listing"

	"github.com/spf13/cobra"
)

func messagePublish() *cobra.Command {
	var vhost, exchange, key, properties string
	var transient bool
	var headers []string
	cmd := listing.OnVHost(brokerapi.Command(&cobra.Command{
		Use: "publish [QUEUE] BODY", Short: "publish a message to a queue, or to an exchange", Args: cobra.RangeArgs(1, 2),
		Long: "BODY is the text of the message, - for standard input. The message is persistent, and on disk when the command ends.",
		Example: `  fiveways message publish orders 'two apples' --header shop=paris
  fiveways message publish --exchange events --routing-key order.new - < order.json`,
	}, func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
		if (len(args) == 2) == cmd.Flags().Changed("exchange") {
			return exitcode.Usage("name a queue, or an exchange with --exchange")
		}
		if len(args) == 2 {
			key = args[0]
		}
		in, err := publication(cmd, args[len(args)-1], properties, headers, transient)
		if err != nil {
			return err
		}
		in["routing_key"] = key
		name := exchange
		if name == "" {
			name = "amq.default"
		}
		var out struct {
			Routed bool `json:"routed"`
		}
		if err := op.Do(cmd.Context(), http.MethodPost, brokerapi.Path("exchanges", vhost, name, "publish"), in, &out); err != nil {
			return err
		}
		if out.Routed {
			return nil
		}
		if exchange != "" {
			return fmt.Errorf("the message is unroutable: no queue is bound with routing key '%s' to exchange '%s'; or a queue is full and rejects it", key, exchange)
		}
		if err := op.Do(cmd.Context(), http.MethodGet, brokerapi.Path("queues", vhost, key), nil, nil); err != nil {
			return err
		}
		return fmt.Errorf("queue '%s' in vhost '%s' is full and rejects the message", key, vhost)
	}), &vhost)
	cmd.Flags().StringVar(&exchange, "exchange", "", "publish to this exchange")
	cmd.Flags().StringVar(&key, "routing-key", "", "routing key, with --exchange")
	cmd.Flags().StringVar(&properties, "properties", "", `a JSON object, such as {"content_type": "text/plain", "priority": 5}`)
	cmd.Flags().StringArrayVar(&headers, "header", nil, "NAME=VALUE; may be repeated")
	cmd.Flags().BoolVar(&transient, "transient", false, "the message is lost at a restart")
	return cmd
}

// publication returns the message in the form of the API.
func publication(cmd *cobra.Command, body, properties string, headers []string, transient bool) (map[string]any, error) {
	p := map[string]any{"delivery_mode": 2}
	if transient {
		p["delivery_mode"] = 1
	}
	if properties != "" {
		if err := json.Unmarshal([]byte(properties), &p); err != nil {
			return nil, exitcode.Usage("--properties is not a JSON object")
		}
	}
	if len(headers) > 0 {
		table, err := input.Arguments(headers)
		if err != nil {
			return nil, err
		}
		p["headers"] = table
	}
	payload := []byte(body)
	if body == "-" {
		var err error
		if payload, err = input.ReadAll(cmd, body); err != nil {
			return nil, err
		}
	}
	if utf8.Valid(payload) {
		return map[string]any{"properties": p, "payload": string(payload), "payload_encoding": "string"}, nil
	}
	return map[string]any{"properties": p, "payload": base64.StdEncoding.EncodeToString(payload), "payload_encoding": "base64"}, nil
}

func messageGet() *cobra.Command {
	var vhost, output string
	var count int
	var remove bool
	cmd := listing.OnVHost(brokerapi.Command(&cobra.Command{
		Use: "get QUEUE", Short: "take messages off a queue, and requeue them unless --remove is given", Example: "  fiveways message get orders --count 5", Args: cobra.ExactArgs(1),
		Long: "As `rabbitmqadmin get`: requeued messages are marked as redelivered. `fiveways message list` changes nothing.",
	}, func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
		if count < 1 {
			return exitcode.Usage("--count is %d; it must be at least 1", count)
		}
		in := map[string]any{"count": count, "ackmode": "ack_requeue_true", "encoding": "auto"}
		if remove {
			in["ackmode"] = "ack_requeue_false"
		}
		var all []display.Object
		if err := op.Do(cmd.Context(), http.MethodPost, brokerapi.Path("queues", vhost, args[0], "get"), in, &all); err != nil {
			return err
		}
		if output == display.FormJSON {
			return display.PrintJSON(cmd.OutOrStdout(), all)
		}
		return display.PrintTable(cmd.OutOrStdout(), []string{"exchange", "routing_key", "redelivered", "message_count", "payload_bytes", "payload"}, nil, all)
	}), &vhost)
	cmd.Flags().IntVar(&count, "count", 1, "maximum number")
	cmd.Flags().BoolVar(&remove, "remove", false, "do not requeue them")
	display.Flag(cmd, &output)
	return cmd
}

func messageShow() *cobra.Command {
	var vhost string
	return listing.OnVHost(listing.Show(&cobra.Command{Use: "show QUEUE ID", Short: "show a whole message; `message list` shows the ids", Example: "  fiveways message show orders 1-1", Args: cobra.ExactArgs(2)},
		func(args []string) string { return brokerapi.Path("queues", vhost, args[0], "messages", args[1]) }), &vhost)
}

func messageDelete() *cobra.Command {
	var vhost string
	var consent input.Consent
	return consent.Flag(listing.OnVHost(brokerapi.Command(&cobra.Command{Use: "delete QUEUE ID", Short: "delete one message", Example: "  fiveways message delete orders 1-1 --yes", Args: cobra.ExactArgs(2)},
		func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
			if err := consent.Ask(cmd, "Delete message %s of queue '%s' in vhost '%s'?", args[1], args[0], vhost); err != nil {
				return err
			}
			return op.Do(cmd.Context(), http.MethodDelete, brokerapi.Path("queues", vhost, args[0], "messages", args[1]), nil, nil)
		}), &vhost))
}

func messageMove() *cobra.Command {
	var vhost, output string
	var tr transfer
	cmd := listing.OnVHost(brokerapi.RunningCommand(&cobra.Command{
		Use: "move QUEUE TO [ID]", Short: "move messages, or one, to another queue", Example: "  fiveways message move orders orders.dead --limit 100", Args: cobra.RangeArgs(2, 3),
		Long: "Without an ID it starts a task in the broker and shows it; `fiveways task show ID` shows its progress, and --wait waits for its end.",
	}, func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
		if err := tr.check(); err != nil {
			return err
		}
		tr.To = args[1]
		if len(args) == 3 {
			return op.Do(cmd.Context(), http.MethodPost, brokerapi.Path("queues", vhost, args[0], "messages", args[2], "move"), map[string]string{"to": tr.To}, nil)
		}
		return startTask(cmd, op, brokerapi.Path("queues", vhost, args[0], "messages", "move"), &tr, output)
	}), &vhost)
	tr.flags(cmd)
	display.Flag(cmd, &output)
	return cmd
}
