package cli

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"
)

func keyCommand() *cobra.Command {
	return group("key", "list, show, set and delete the ordinary keys of etcd's API", "Needs the tag administrator.", `  fiveways key list /config/
  fiveways key set /config/colour blue
  fiveways key get /config/colour
  fiveways key delete /config/colour`, keyList(), keyGet(), keySet(), keyDelete())
}

// keyPage is how many keys are asked for at once.
const keyPage = "500"

func keyList() *cobra.Command {
	var output string
	cmd := operate(&cobra.Command{Use: "list [PREFIX]", Short: "list keys", Args: cobra.MaximumNArgs(1)},
		func(cmd *cobra.Command, op *operator, args []string) error {
			q := url.Values{"limit": {keyPage}}
			if len(args) > 0 {
				q.Set("prefix", args[0])
			}
			all := []object{}
			for {
				var page struct {
					Keys []object `json:"keys"`
					Next string   `json:"next"`
				}
				if err := op.read(cmd.Context(), path("keys")+"?"+q.Encode(), &page); err != nil {
					return err
				}
				all = append(all, page.Keys...)
				if page.Next == "" || len(page.Keys) == 0 {
					break
				}
				q.Set("after", page.Next)
			}
			if output == outputJSON {
				return printJSON(cmd.OutOrStdout(), all)
			}
			return printTable(cmd.OutOrStdout(), []string{"key", "version", "mod_revision", "lease"}, all)
		})
	outputFlag(cmd, &output)
	return cmd
}

func keyGet() *cobra.Command {
	var output string
	cmd := operate(&cobra.Command{Use: "get KEY", Short: "print the value of a key", Args: cobra.ExactArgs(1)},
		func(cmd *cobra.Command, op *operator, args []string) error {
			var o object
			if err := op.read(cmd.Context(), path("keys", args[0]), &o); err != nil {
				return err
			}
			if output == outputJSON {
				return printJSON(cmd.OutOrStdout(), o)
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), cellText(o["value"]))
			return err
		})
	outputFlag(cmd, &output)
	return cmd
}

func keySet() *cobra.Command {
	return operate(&cobra.Command{Use: "set KEY VALUE", Short: "give a key a value", Args: cobra.ExactArgs(2)},
		func(cmd *cobra.Command, op *operator, args []string) error {
			return op.do(cmd.Context(), http.MethodPut, path("keys", args[0]), map[string]string{"value": args[1]}, nil)
		})
}

func keyDelete() *cobra.Command {
	return operate(&cobra.Command{Use: "delete KEY", Short: "delete a key", Args: cobra.ExactArgs(1)},
		func(cmd *cobra.Command, op *operator, args []string) error {
			return op.do(cmd.Context(), http.MethodDelete, path("keys", args[0]), nil, nil)
		})
}
