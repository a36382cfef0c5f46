package queues

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"fiveways.dev/fiveways/internal/cli/brokerapi"
	"fiveways.dev/fiveways/internal/cli/display"
	"fiveways.dev/fiveways/internal/cli/input"
	"fiveways.dev/fiveways/internal/cli/listing"

	"github.com/spf13/cobra"
)

// ExchangeCommand returns `fiveways exchange`.
func ExchangeCommand() *cobra.Command {
	return listing.Group("exchange", "list, show, add and delete exchanges", "", `  fiveways exchange list --vhost /
  fiveways exchange add events topic
  fiveways exchange add later x-delayed-message --argument x-delayed-type=direct
  fiveways exchange delete events --if-unused --yes`,
		listing.List(listing.Spec{
			Command: cobra.Command{Use: "list", Short: "list the exchanges", Example: "  fiveways exchange list --match '^amq'", Args: cobra.NoArgs},
			Columns: "vhost,name,type,durable,auto_delete,internal,policy", InVHost: true, Path: listing.InVHost("exchanges"),
		}), exchangeShow(), exchangeAdd(), exchangeDelete())
}

func exchangeShow() *cobra.Command {
	var vhost string
	return listing.OnVHost(listing.Show(&cobra.Command{Use: "show EXCHANGE", Short: "show the details of an exchange", Example: "  fiveways exchange show events", Args: cobra.ExactArgs(1)},
		func(args []string) string { return brokerapi.Path("exchanges", vhost, args[0]) }), &vhost)
}

func exchangeAdd() *cobra.Command {
	var vhost string
	var d declaration
	cmd := listing.OnVHost(brokerapi.Command(&cobra.Command{
		Use: "add EXCHANGE TYPE", Short: "add an exchange; an existing one must be the same", Example: "  fiveways exchange add events topic", Args: cobra.ExactArgs(2),
	}, func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
		d.Type = args[1]
		if err := d.fill(); err != nil {
			return err
		}
		return op.Do(cmd.Context(), http.MethodPut, brokerapi.Path("exchanges", vhost, args[0]), d, nil)
	}), &vhost)
	d.flags(cmd)
	cmd.Flags().BoolVar(&d.Internal, "internal", false, "clients cannot publish to it, only bindings route to it")
	return cmd
}

func exchangeDelete() *cobra.Command {
	var vhost string
	var unused bool
	var consent input.Consent
	cmd := listing.OnVHost(brokerapi.Command(&cobra.Command{Use: "delete EXCHANGE", Short: "delete an exchange with its bindings", Example: "  fiveways exchange delete events --if-unused --yes", Args: cobra.ExactArgs(1)},
		func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
			if err := consent.Ask(cmd, "Delete exchange '%s' in vhost '%s' with its bindings, and the messages scheduled in it?", args[0], vhost); err != nil {
				return err
			}
			return op.Do(cmd.Context(), http.MethodDelete, brokerapi.Path("exchanges", vhost, args[0])+conditions(map[string]bool{"if-unused": unused}), nil, nil)
		}), &vhost)
	cmd.Flags().BoolVar(&unused, "if-unused", false, "only if nothing is bound to it")
	return consent.Flag(cmd)
}

// BindingCommand returns `fiveways binding`.
func BindingCommand() *cobra.Command {
	return listing.Group("binding", "list, add and delete bindings", "", `  fiveways binding list
  fiveways binding add events orders --routing-key 'order.#'
  fiveways binding delete events orders --routing-key 'order.#'`,
		listing.List(listing.Spec{
			Command: cobra.Command{Use: "list", Short: "list the bindings", Example: "  fiveways binding list --match '^orders$'", Args: cobra.NoArgs},
			Columns: "vhost,source,destination_type,destination,routing_key,arguments", Match: "destination", InVHost: true, Path: listing.InVHost("bindings"),
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
	cmd.Flags().BoolVar(&b.toExchange, "to-exchange", false, "the destination is an exchange")
	input.ArgumentsFlag(cmd, &b.given)
	return listing.OnVHost(cmd, &b.vhost)
}

// path returns the path of the bindings between two names.
func (b *binding) path(args []string) string {
	kind := "q"
	if b.toExchange {
		kind = "e"
	}
	return brokerapi.Path("bindings", b.vhost, "e", args[0], kind, args[1])
}

func bindingAdd() *cobra.Command {
	var b binding
	return b.flags(brokerapi.Command(&cobra.Command{Use: "add EXCHANGE QUEUE", Short: "bind a queue or an exchange to an exchange", Example: "  fiveways binding add events orders --routing-key 'order.#'", Args: cobra.ExactArgs(2)},
		func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
			given, err := input.Arguments(b.given)
			if err != nil {
				return err
			}
			return op.Do(cmd.Context(), http.MethodPost, b.path(args), map[string]any{"routing_key": b.key, "arguments": given}, nil)
		}))
}

// bindingDelete lists the bindings first, because the API names a binding by its properties_key,
// which depends on the routing key and the arguments.
func bindingDelete() *cobra.Command {
	var b binding
	return b.flags(brokerapi.Command(&cobra.Command{
		Use: "delete EXCHANGE QUEUE", Short: "delete the bindings with a routing key", Example: "  fiveways binding delete events orders --routing-key 'order.#'", Args: cobra.ExactArgs(2),
		Long: "Deletes the bindings between the two with this routing key and, if given, these arguments.",
	}, func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
		given, err := input.Arguments(b.given)
		if err != nil {
			return err
		}
		var all []display.Object
		if err := op.Read(cmd.Context(), b.path(args), &all); err != nil {
			return err
		}
		deleted := 0
		for _, found := range all {
			if display.Cell(found["routing_key"]) != b.key || !hasArguments(found, given) {
				continue
			}
			properties := display.Cell(found["properties_key"])
			if err := op.Do(cmd.Context(), http.MethodDelete, b.path(args)+"/"+brokerapi.Segment(properties), nil, nil); err != nil {
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

// hasArguments reports whether an object of the API has all of the arguments.
func hasArguments(found display.Object, given map[string]any) bool {
	has, _ := found["arguments"].(display.Object)
	for name, want := range given {
		if display.Cell(has[name]) != argumentText(want) {
			return false
		}
	}
	return true
}

// argumentText formats an argument like display.Cell.
func argumentText(v any) string {
	raw, ok := v.(json.RawMessage)
	if !ok {
		return display.Cell(v)
	}
	var decoded any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&decoded) != nil {
		return string(raw)
	}
	return display.Cell(decoded)
}
