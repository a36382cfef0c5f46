package definitions

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"fiveways.dev/fiveways/internal/cli/brokerapi"
	"fiveways.dev/fiveways/internal/cli/display"
	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/internal/cli/input"
	"fiveways.dev/fiveways/internal/cli/listing"

	"github.com/spf13/cobra"
)

// DefinitionsCommand returns `fiveways definitions`.
func DefinitionsCommand() *cobra.Command {
	return listing.Group("definitions", "export and import users, virtual hosts, permissions, policies, queues, exchanges and bindings",
		`The file is that of RabbitMQ's management: one of a RabbitMQ 3.x or 4.x can be imported. It holds no messages, and of passwords their hashes only.`,
		`  fiveways definitions export definitions.json
  fiveways definitions import definitions.json
  fiveways definitions export --vhost staging > staging.json`, definitionsExport(), definitionsImport())
}

// definitionsPath returns the path of all definitions, or of those of one virtual host.
func definitionsPath(vhost string) string {
	if vhost == "" {
		return brokerapi.Path("definitions")
	}
	return brokerapi.Path("definitions", vhost)
}

func definitionsExport() *cobra.Command {
	var vhost string
	cmd := brokerapi.Command(&cobra.Command{Use: "export [FILE]", Short: "export definitions to a file, or to standard output", Example: "  fiveways definitions export --vhost staging > staging.json", Args: cobra.MaximumNArgs(1)},
		func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
			var all json.RawMessage
			if err := op.Do(cmd.Context(), http.MethodGet, definitionsPath(vhost), nil, &all); err != nil {
				return err
			}
			if len(args) == 0 {
				return display.PrintJSON(cmd.OutOrStdout(), all)
			}
			f, err := os.OpenFile(args[0], os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) // it contains password hashes
			if err != nil {
				return err
			}
			return errors.Join(display.PrintJSON(f, all), f.Close())
		})
	cmd.Flags().StringVar(&vhost, "vhost", "", "only those of this virtual host")
	return cmd
}

// importPatience is how long the broker may take for a file with many users or policies.
const importPatience = time.Hour

func definitionsImport() *cobra.Command {
	var vhost string
	cmd := brokerapi.Command(&cobra.Command{
		Use: "import FILE", Short: "add the definitions of a file (- is standard input)", Example: "  fiveways definitions import definitions.json", Args: cobra.ExactArgs(1),
		Long: "It deletes nothing. Existing users, permissions, policies and limits are replaced by those of the file.",
	}, func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
		in, err := input.ReadAll(cmd, args[0])
		if err != nil {
			return err
		}
		if !json.Valid(in) {
			return fmt.Errorf("%w: %s contains no JSON", exitcode.ErrUsage, args[0])
		}
		return op.DoWithin(cmd.Context(), importPatience, http.MethodPost, definitionsPath(vhost), json.RawMessage(in), nil)
	})
	cmd.Flags().StringVar(&vhost, "vhost", "", "into this virtual host, from a file that was exported with --vhost")
	return cmd
}
