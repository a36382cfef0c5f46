package cli

import (
	"encoding/json"
	"net/http"

	"github.com/spf13/cobra"
)

func policyCommand() *cobra.Command {
	return policyGroup("policy", "policies", "list, set and delete policies of queues and exchanges", `  fiveways policy set limits '^app\.' '{"max-length": 100000, "overflow": "reject-publish"}' --apply-to queues
  fiveways policy list
  fiveways policy delete limits`)
}

func operatorPolicyCommand() *cobra.Command {
	return policyGroup("operator-policy", "operator-policies", "list, set and delete policies that bound what users' policies may say", `  fiveways operator-policy set cap '.*' '{"max-length": 1000000}'
  fiveways operator-policy list`)
}

// policyGroup are the commands for policies of a kind.
func policyGroup(use, kind, short, example string) *cobra.Command {
	return group(use, short, "Of the policies whose pattern matches the name of a queue or an exchange the one with the highest priority applies.", example,
		list(listing{
			command: cobra.Command{Use: "list", Short: "list them", Args: cobra.NoArgs},
			columns: "vhost,name,pattern,apply-to,priority,definition", inVHost: true, path: inVHost(kind),
		}), policySet(kind), deleteNamed("delete NAME", "delete one", kind))
}

func policySet(kind string) *cobra.Command {
	var vhost, applyTo string
	var priority int
	cmd := onVHost(operate(&cobra.Command{
		Use: "set NAME PATTERN DEFINITION", Short: "set one; DEFINITION is a JSON object", Args: cobra.ExactArgs(3),
	}, func(cmd *cobra.Command, op *operator, args []string) error {
		if !json.Valid([]byte(args[2])) {
			return usage("the definition is no JSON object: %s", args[2])
		}
		in := map[string]any{"pattern": args[1], "definition": json.RawMessage(args[2]), "priority": priority, "apply-to": applyTo}
		return op.do(cmd.Context(), http.MethodPut, path(kind, vhost, args[0]), in, nil)
	}), &vhost)
	cmd.Flags().StringVar(&applyTo, "apply-to", "all", "queues, classic_queues, quorum_queues, streams, exchanges or all")
	cmd.Flags().IntVar(&priority, "priority", 0, "the highest one that matches applies")
	return cmd
}

// deleteNamed deletes something of a virtual host by its kind, further parts of its path and its name.
func deleteNamed(use, short string, kind ...string) *cobra.Command {
	var vhost string
	return onVHost(operate(&cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(1)}, func(cmd *cobra.Command, op *operator, args []string) error {
		return op.do(cmd.Context(), http.MethodDelete, path(append(kind, vhost, args[0])...), nil, nil)
	}), &vhost)
}

func parameterCommand() *cobra.Command {
	return group("parameter", "list, set and delete parameters of components such as shovels",
		"Policies and limits are parameters, too, but have commands of their own. Others can see a password on the command line: give such a value by standard input.", `  fiveways parameter list
  fiveways parameter set shovel to-paris '{"src-uri": "amqp://", "src-queue": "orders", "dest-uri": "amqp:///paris", "dest-queue": "orders"}'
  fiveways parameter set shovel to-rome - < shovel.json
  fiveways parameter delete shovel to-paris`,
		list(listing{
			command: cobra.Command{Use: "list [COMPONENT]", Short: "list parameters", Args: cobra.MaximumNArgs(1)},
			columns: "vhost,component,name,value", inVHost: true, path: func(args []string, vhost string) string {
				at := append([]string{"parameters"}, args...)
				if vhost != "" && len(args) > 0 {
					at = append(at, vhost)
				}
				return path(at...)
			}, check: func(args []string, vhost string) error {
				if vhost != "" && len(args) == 0 {
					return usage("--vhost needs a COMPONENT")
				}
				return nil
			},
		}), parameterSet(), parameterDelete())
}

func parameterSet() *cobra.Command {
	var vhost string
	return onVHost(operate(&cobra.Command{
		Use: "set COMPONENT NAME VALUE", Short: "set a parameter; VALUE is JSON (- reads it from standard input)", Args: cobra.ExactArgs(3),
	},
		func(cmd *cobra.Command, op *operator, args []string) error {
			value := []byte(args[2])
			if args[2] == "-" {
				var err error
				if value, err = readAll(cmd, "-"); err != nil {
					return err
				}
			}
			if !json.Valid(value) {
				return usage("the value is no JSON")
			}
			in := map[string]any{"vhost": vhost, "component": args[0], "name": args[1], "value": json.RawMessage(value)}
			return op.do(cmd.Context(), http.MethodPut, path("parameters", args[0], vhost, args[1]), in, nil)
		}), &vhost)
}

func parameterDelete() *cobra.Command {
	var vhost string
	return onVHost(operate(&cobra.Command{Use: "delete COMPONENT NAME", Short: "delete a parameter", Args: cobra.ExactArgs(2)},
		func(cmd *cobra.Command, op *operator, args []string) error {
			return op.do(cmd.Context(), http.MethodDelete, path("parameters", args[0], vhost, args[1]), nil, nil)
		}), &vhost)
}
