package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"
)

func exchangeCommand() *cobra.Command {
	return group("exchange", "list, show, add and delete exchanges", "", `  fiveways exchange list --vhost /
  fiveways exchange add events topic
  fiveways exchange add later x-delayed-message --argument x-delayed-type=direct
  fiveways exchange delete events --if-unused`,
		list(listing{
			command: cobra.Command{Use: "list", Short: "list the exchanges", Args: cobra.NoArgs},
			columns: "vhost,name,type,durable,auto_delete,internal,policy", inVHost: true, path: inVHost("exchanges"),
		}), exchangeShow(), exchangeAdd(), exchangeDelete())
}

func exchangeShow() *cobra.Command {
	var vhost string
	return onVHost(show(&cobra.Command{Use: "show EXCHANGE", Short: "show all that is known of an exchange", Args: cobra.ExactArgs(1)},
		func(args []string) string { return path("exchanges", vhost, args[0]) }), &vhost)
}

func exchangeAdd() *cobra.Command {
	var vhost string
	var d declaration
	cmd := onVHost(operate(&cobra.Command{
		Use: "add EXCHANGE TYPE", Short: "add an exchange; one that is there already must be the same", Args: cobra.ExactArgs(2),
	}, func(cmd *cobra.Command, op *operator, args []string) error {
		d.Type = args[1]
		if err := d.fill(); err != nil {
			return err
		}
		return op.do(cmd.Context(), http.MethodPut, path("exchanges", vhost, args[0]), d, nil)
	}), &vhost)
	d.flags(cmd)
	cmd.Flags().BoolVar(&d.Internal, "internal", false, "only bindings bring it messages, no publisher")
	return cmd
}

func exchangeDelete() *cobra.Command {
	var vhost string
	var unused bool
	cmd := onVHost(operate(&cobra.Command{Use: "delete EXCHANGE", Short: "delete an exchange with its bindings", Args: cobra.ExactArgs(1)},
		func(cmd *cobra.Command, op *operator, args []string) error {
			return op.do(cmd.Context(), http.MethodDelete, path("exchanges", vhost, args[0])+conditions(map[string]bool{"if-unused": unused}), nil, nil)
		}), &vhost)
	cmd.Flags().BoolVar(&unused, "if-unused", false, "only when nothing is bound to it")
	return cmd
}

func bindingCommand() *cobra.Command {
	return group("binding", "list, add and delete bindings", "", `  fiveways binding list
  fiveways binding add events orders --routing-key 'order.#'
  fiveways binding delete events orders --routing-key 'order.#'`,
		list(listing{
			command: cobra.Command{Use: "list", Short: "list the bindings", Args: cobra.NoArgs},
			columns: "vhost,source,destination_type,destination,routing_key,arguments", match: "destination", inVHost: true, path: inVHost("bindings"),
		}), bindingAdd(), bindingDelete())
}

// binding names a binding from an exchange to a queue or an exchange.
type binding struct {
	vhost, key string
	toExchange bool
	given      []string
}

func (b *binding) flags(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringVar(&b.key, "routing-key", "", "routing key or pattern")
	cmd.Flags().BoolVar(&b.toExchange, "to-exchange", false, "the second name is that of an exchange")
	argumentsFlag(cmd, &b.given)
	return onVHost(cmd, &b.vhost)
}

// path of the bindings between two names.
func (b *binding) path(args []string) string {
	kind := "q"
	if b.toExchange {
		kind = "e"
	}
	return path("bindings", b.vhost, "e", args[0], kind, args[1])
}

func bindingAdd() *cobra.Command {
	var b binding
	return b.flags(operate(&cobra.Command{Use: "add EXCHANGE QUEUE", Short: "bind a queue or an exchange to an exchange", Args: cobra.ExactArgs(2)},
		func(cmd *cobra.Command, op *operator, args []string) error {
			given, err := arguments(b.given)
			if err != nil {
				return err
			}
			return op.do(cmd.Context(), http.MethodPost, b.path(args), map[string]any{"routing_key": b.key, "arguments": given}, nil)
		}))
}

// A binding is deleted by the properties_key that the API shows for it, which depends on its routing key and its arguments.
func bindingDelete() *cobra.Command {
	var b binding
	return b.flags(operate(&cobra.Command{
		Use: "delete EXCHANGE QUEUE", Short: "delete the bindings with a routing key", Args: cobra.ExactArgs(2),
		Long: "Deletes those between the two that have the routing key and, where some are given, the arguments.",
	}, func(cmd *cobra.Command, op *operator, args []string) error {
		given, err := arguments(b.given)
		if err != nil {
			return err
		}
		var all []object
		if err := op.read(cmd.Context(), b.path(args), &all); err != nil {
			return err
		}
		deleted := 0
		for _, found := range all {
			if cellText(found["routing_key"]) != b.key || !hasArguments(found, given) {
				continue
			}
			properties := cellText(found["properties_key"])
			if err := op.do(cmd.Context(), http.MethodDelete, b.path(args)+"/"+segment(properties), nil, nil); err != nil {
				return err
			}
			deleted++
		}
		if deleted == 0 {
			return fmt.Errorf("no binding from '%s' to '%s' has the routing key '%s'", args[0], args[1], b.key)
		}
		return nil
	}))
}

// hasArguments tells whether an object of the API has all of the arguments.
func hasArguments(found object, given map[string]any) bool {
	has, _ := found["arguments"].(object)
	for name, want := range given {
		if cellText(has[name]) != argumentText(want) {
			return false
		}
	}
	return true
}

// argumentText is an argument that was given, as cellText has it.
func argumentText(v any) string {
	raw, ok := v.(json.RawMessage)
	if !ok {
		return cellText(v)
	}
	var decoded any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&decoded) != nil {
		return string(raw)
	}
	return cellText(decoded)
}
