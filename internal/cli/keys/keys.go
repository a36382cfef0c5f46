package keys

import (
	"fmt"
	"net/http"
	"net/url"

	"fiveways.dev/fiveways/internal/cli/brokerapi"
	"fiveways.dev/fiveways/internal/cli/display"
	"fiveways.dev/fiveways/internal/cli/input"
	"fiveways.dev/fiveways/internal/cli/listing"

	"github.com/spf13/cobra"
)

// Command returns `fiveways key`.
func Command() *cobra.Command {
	return listing.Group("key", "list, show, set and delete the ordinary keys of etcd's API", "Needs the tag administrator.", `  fiveways key list /config/
  fiveways key set /config/colour blue
  fiveways key get /config/colour
  fiveways key delete /config/colour --yes`, keyList(), keyGet(), keySet(), keyDelete())
}

// keyPage is the number of keys per request.
const keyPage = "500"

func keyList() *cobra.Command {
	var output string
	cmd := listing.Watched(&cobra.Command{Use: "list [PREFIX]", Short: "list keys", Example: "  fiveways key list /config/", Args: cobra.MaximumNArgs(1)},
		func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
			q := url.Values{"limit": {keyPage}}
			if len(args) > 0 {
				q.Set("prefix", args[0])
			}
			all := []display.Object{}
			for {
				var page struct {
					Keys []display.Object `json:"keys"`
					Next string           `json:"next"`
				}
				if err := op.Read(cmd.Context(), brokerapi.Path("keys")+"?"+q.Encode(), &page); err != nil {
					return err
				}
				all = append(all, page.Keys...)
				if page.Next == "" || len(page.Keys) == 0 {
					break
				}
				q.Set("after", page.Next)
			}
			if output == display.FormJSON {
				return display.PrintJSON(cmd.OutOrStdout(), all)
			}
			return display.PrintTable(cmd.OutOrStdout(), []string{"key", "version", "mod_revision", "lease"}, nil, all)
		})
	display.Flag(cmd, &output)
	return cmd
}

func keyGet() *cobra.Command {
	var output string
	cmd := brokerapi.Command(&cobra.Command{Use: "get KEY", Short: "print the value of a key", Example: "  fiveways key get /config/colour", Args: cobra.ExactArgs(1)},
		func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
			var o display.Object
			if err := op.Read(cmd.Context(), brokerapi.Path("keys", args[0]), &o); err != nil {
				return err
			}
			if output == display.FormJSON {
				return display.PrintJSON(cmd.OutOrStdout(), o)
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), display.Cell(o["value"]))
			return err
		})
	display.Flag(cmd, &output)
	return cmd
}

func keySet() *cobra.Command {
	return brokerapi.Command(&cobra.Command{Use: "set KEY VALUE", Short: "give a key a value", Example: "  fiveways key set /config/colour blue", Args: cobra.ExactArgs(2)},
		func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
			return op.Do(cmd.Context(), http.MethodPut, brokerapi.Path("keys", args[0]), map[string]string{"value": args[1]}, nil)
		})
}

func keyDelete() *cobra.Command {
	var consent input.Consent
	return consent.Flag(brokerapi.Command(&cobra.Command{Use: "delete KEY", Short: "delete a key", Example: "  fiveways key delete /config/colour --yes", Args: cobra.ExactArgs(1)},
		func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
			if err := consent.Ask(cmd, "Delete key '%s'?", args[0]); err != nil {
				return err
			}
			return op.Do(cmd.Context(), http.MethodDelete, brokerapi.Path("keys", args[0]), nil, nil)
		}))
}
