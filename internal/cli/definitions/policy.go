package definitions

import (
	"encoding/json"
	"net/http"
	"strings"

	"fiveways.dev/fiveways/internal/cli/brokerapi"
	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/internal/cli/input"
	"fiveways.dev/fiveways/internal/cli/listing"

	"github.com/spf13/cobra"
)

// PolicyCommand returns `fiveways policy`.
func PolicyCommand() *cobra.Command {
	return policyGroup("policy", "policies", "list, set and delete policies of queues and exchanges", `  fiveways policy set limits '^app\.' '{"max-length": 100000, "overflow": "reject-publish"}' --apply-to queues
  fiveways policy list
  fiveways policy delete limits`)
}

// OperatorPolicyCommand returns `fiveways operator-policy`.
func OperatorPolicyCommand() *cobra.Command {
	return policyGroup("operator-policy", "operator-policies", "list, set and delete policies that limit what other policies may set", `  fiveways operator-policy set cap '.*' '{"max-length": 1000000}'
  fiveways operator-policy list`)
}

// policyGroup returns the commands for policies of a kind.
func policyGroup(use, kind, short, example string) *cobra.Command {
	return listing.Group(use, short, "If several policies match the name of a queue or an exchange, the one with the highest priority applies.", example,
		listing.List(listing.Spec{
			Command: cobra.Command{Use: "list", Short: "list the " + strings.ReplaceAll(kind, "-", " "), Args: cobra.NoArgs, Example: "  fiveways " + use + " list"},
			Columns: "vhost,name,pattern,apply-to,priority,definition", InVHost: true, Path: listing.InVHost(kind),
		}), policySet(use, kind), policyDelete(use, kind))
}

func policySet(use, kind string) *cobra.Command {
	var vhost, applyTo string
	var priority int
	cmd := listing.OnVHost(brokerapi.Command(&cobra.Command{
		Use: "set NAME PATTERN DEFINITION", Short: "set a policy; DEFINITION is a JSON object", Args: cobra.ExactArgs(3),
		Example: "  fiveways " + use + ` set limits '^app\.' '{"max-length": 100000}' --apply-to queues`,
	}, func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
		var definition map[string]json.RawMessage
		if json.Unmarshal([]byte(args[2]), &definition) != nil || definition == nil {
			return exitcode.Usage("the definition is not a JSON object")
		}
		in := map[string]any{"pattern": args[1], "definition": definition, "priority": priority, "apply-to": applyTo}
		return op.Do(cmd.Context(), http.MethodPut, brokerapi.Path(kind, vhost, args[0]), in, nil)
	}), &vhost)
	cmd.Flags().StringVar(&applyTo, "apply-to", "all", "queues, classic_queues, quorum_queues, streams, exchanges or all")
	cmd.Flags().IntVar(&priority, "priority", 0, "the highest one that matches applies")
	return cmd
}

func policyDelete(use, kind string) *cobra.Command {
	var vhost string
	return listing.OnVHost(brokerapi.Command(&cobra.Command{
		Use: "delete NAME", Short: "delete a policy", Args: cobra.ExactArgs(1), Example: "  fiveways " + use + " delete limits",
	}, func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
		return op.Do(cmd.Context(), http.MethodDelete, brokerapi.Path(kind, vhost, args[0]), nil, nil)
	}), &vhost)
}

// ParameterCommand returns `fiveways parameter`.
func ParameterCommand() *cobra.Command {
	return listing.Group("parameter", "list, set and delete parameters of components such as shovels",
		"Policies and limits are parameters, too, but have commands of their own. Others can see a password on the command line: give such a value by standard input.", `  fiveways parameter list
  fiveways parameter set shovel to-paris '{"src-uri": "amqp://", "src-queue": "orders", "dest-uri": "amqp:///paris", "dest-queue": "orders"}'
  fiveways parameter set shovel to-rome - < shovel.json
  fiveways parameter delete shovel to-paris`,
		listing.List(listing.Spec{
			Command: cobra.Command{Use: "list [COMPONENT]", Short: "list parameters", Example: "  fiveways parameter list shovel --vhost /", Args: cobra.MaximumNArgs(1)},
			Columns: "vhost,component,name,value", InVHost: true, Path: func(args []string, vhost string) string {
				at := append([]string{"parameters"}, args...)
				if vhost != "" && len(args) > 0 {
					at = append(at, vhost)
				}
				return brokerapi.Path(at...)
			}, Check: func(args []string, vhost string) error {
				if vhost != "" && len(args) == 0 {
					return exitcode.Usage("--vhost needs a COMPONENT")
				}
				return nil
			},
		}), parameterSet(), parameterDelete())
}

func parameterSet() *cobra.Command {
	var vhost string
	return listing.OnVHost(brokerapi.Command(&cobra.Command{
		Use: "set COMPONENT NAME VALUE", Short: "set a parameter; VALUE is JSON (- reads it from standard input)", Example: "  fiveways parameter set shovel to-rome - < shovel.json", Args: cobra.ExactArgs(3),
	},
		func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
			value := []byte(args[2])
			if args[2] == "-" {
				var err error
				if value, err = input.ReadAll(cmd, "-"); err != nil {
					return err
				}
			}
			if !json.Valid(value) {
				return exitcode.Usage("the value is not valid JSON")
			}
			in := map[string]any{"vhost": vhost, "component": args[0], "name": args[1], "value": json.RawMessage(value)}
			return op.Do(cmd.Context(), http.MethodPut, brokerapi.Path("parameters", args[0], vhost, args[1]), in, nil)
		}), &vhost)
}

func parameterDelete() *cobra.Command {
	var vhost string
	return listing.OnVHost(brokerapi.Command(&cobra.Command{Use: "delete COMPONENT NAME", Short: "delete a parameter", Example: "  fiveways parameter delete shovel to-paris", Args: cobra.ExactArgs(2)},
		func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
			return op.Do(cmd.Context(), http.MethodDelete, brokerapi.Path("parameters", args[0], vhost, args[1]), nil, nil)
		}), &vhost)
}
