package cli

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

func messagePublish() *cobra.Command {
	var vhost, exchange, key, properties string
	var transient bool
	var headers []string
	cmd := onVHost(operate(&cobra.Command{
		Use: "publish [QUEUE] BODY", Short: "publish a message to a queue, or to an exchange", Args: cobra.RangeArgs(1, 2),
		Long: "BODY is the text of the message, - for standard input. The message is persistent, and it is on disk when the command ends.",
		Example: `  fiveways message publish orders 'two apples' --header shop=paris
  fiveways message publish --exchange events --routing-key order.new - < order.json`,
	}, func(cmd *cobra.Command, op *operator, args []string) error {
		if (len(args) == 2) == cmd.Flags().Changed("exchange") {
			return usage("name a queue, or an exchange with --exchange")
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
		if err := op.do(cmd.Context(), http.MethodPost, path("exchanges", vhost, name, "publish"), in, &out); err != nil {
			return err
		}
		if !out.Routed {
			return fmt.Errorf("the message went nowhere: no queue takes the routing key '%s' of exchange '%s'", key, exchange)
		}
		return nil
	}), &vhost)
	cmd.Flags().StringVar(&exchange, "exchange", "", "publish to this exchange")
	cmd.Flags().StringVar(&key, "routing-key", "", "routing key, with --exchange")
	cmd.Flags().StringVar(&properties, "properties", "", `a JSON object, such as {"content_type": "text/plain", "priority": 5}`)
	cmd.Flags().StringArrayVar(&headers, "header", nil, "NAME=VALUE; may be repeated")
	cmd.Flags().BoolVar(&transient, "transient", false, "the message need not outlive a restart")
	return cmd
}

// publication is the message as the API takes it.
func publication(cmd *cobra.Command, body, properties string, headers []string, transient bool) (map[string]any, error) {
	p := map[string]any{"delivery_mode": 2}
	if transient {
		p["delivery_mode"] = 1
	}
	if properties != "" {
		if err := json.Unmarshal([]byte(properties), &p); err != nil {
			return nil, usage("--properties is no JSON object: %v", err)
		}
	}
	if len(headers) > 0 {
		table, err := arguments(headers)
		if err != nil {
			return nil, err
		}
		p["headers"] = table
	}
	payload := []byte(body)
	if body == "-" {
		var err error
		if payload, err = readAll(cmd, body); err != nil {
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
	cmd := onVHost(operate(&cobra.Command{
		Use: "get QUEUE", Short: "take messages off a queue, and put them back unless told otherwise", Args: cobra.ExactArgs(1),
		Long: "As `rabbitmqadmin get`: what is put back is marked as redelivered. `fiveways message list` looks and changes nothing.",
	}, func(cmd *cobra.Command, op *operator, args []string) error {
		in := map[string]any{"count": count, "ackmode": "ack_requeue_true", "encoding": "auto"}
		if remove {
			in["ackmode"] = "ack_requeue_false"
		}
		var all []object
		if err := op.do(cmd.Context(), http.MethodPost, path("queues", vhost, args[0], "get"), in, &all); err != nil {
			return err
		}
		if output == outputJSON {
			return printJSON(cmd.OutOrStdout(), all)
		}
		return printTable(cmd.OutOrStdout(), []string{"exchange", "routing_key", "redelivered", "message_count", "payload_bytes", "payload"}, all)
	}), &vhost)
	cmd.Flags().IntVar(&count, "count", 1, "at most so many")
	cmd.Flags().BoolVar(&remove, "remove", false, "do not put them back")
	outputFlag(cmd, &output)
	return cmd
}

func messageShow() *cobra.Command {
	var vhost string
	return onVHost(show(&cobra.Command{Use: "show QUEUE ID", Short: "show a message whole; `message list -o json` tells the ids", Args: cobra.ExactArgs(2)},
		func(args []string) string { return path("queues", vhost, args[0], "messages", args[1]) }), &vhost)
}

func messageDelete() *cobra.Command {
	var vhost string
	return onVHost(operate(&cobra.Command{Use: "delete QUEUE ID", Short: "delete one message for good", Args: cobra.ExactArgs(2)},
		func(cmd *cobra.Command, op *operator, args []string) error {
			return op.do(cmd.Context(), http.MethodDelete, path("queues", vhost, args[0], "messages", args[1]), nil, nil)
		}), &vhost)
}

func messageMove() *cobra.Command {
	var vhost string
	var tr transfer
	cmd := onVHost(operateRunning(&cobra.Command{
		Use: "move QUEUE TO [ID]", Short: "move messages, or one, to another queue", Args: cobra.RangeArgs(2, 3),
		Long: "Without an ID it starts a task of the broker and shows it; `fiveways task show ID` tells how far it is.",
	}, func(cmd *cobra.Command, op *operator, args []string) error {
		tr.To = args[1]
		if len(args) == 3 {
			return op.do(cmd.Context(), http.MethodPost, path("queues", vhost, args[0], "messages", args[2], "move"), map[string]string{"to": tr.To}, nil)
		}
		return startTask(cmd, op, path("queues", vhost, args[0], "messages", "move"), tr)
	}), &vhost)
	tr.flags(cmd)
	return cmd
}
