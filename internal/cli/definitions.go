package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/spf13/cobra"
)

func definitionsCommand() *cobra.Command {
	return group("definitions", "export and import users, virtual hosts, permissions, policies, queues, exchanges and bindings",
		`The file is that of RabbitMQ's management: one of a RabbitMQ 3.x or 4.x can be imported. It holds no messages, and of passwords their hashes only.`,
		`  fiveways definitions export definitions.json
  fiveways definitions import definitions.json
  fiveways definitions export --vhost staging > staging.json`, definitionsExport(), definitionsImport())
}

// definitionsPath is that of all definitions, or of those of one virtual host.
func definitionsPath(vhost string) string {
	if vhost == "" {
		return path("definitions")
	}
	return path("definitions", vhost)
}

func definitionsExport() *cobra.Command {
	var vhost string
	cmd := operate(&cobra.Command{Use: "export [FILE]", Short: "write them to a file, or to standard output", Args: cobra.MaximumNArgs(1)},
		func(cmd *cobra.Command, op *operator, args []string) error {
			var all json.RawMessage
			if err := op.do(cmd.Context(), http.MethodGet, definitionsPath(vhost), nil, &all); err != nil {
				return err
			}
			if len(args) == 0 {
				return printJSON(cmd.OutOrStdout(), all)
			}
			f, err := os.OpenFile(args[0], os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) // it holds hashes of passwords
			if err != nil {
				return err
			}
			return errors.Join(printJSON(f, all), f.Close())
		})
	cmd.Flags().StringVar(&vhost, "vhost", "", "only those of this virtual host")
	return cmd
}

func definitionsImport() *cobra.Command {
	var vhost string
	cmd := operate(&cobra.Command{
		Use: "import FILE", Short: "add what a file has to what is there (- is standard input)", Args: cobra.ExactArgs(1),
		Long: "Nothing is deleted by it. Users, permissions, policies and limits that are there are changed to what the file says.",
	}, func(cmd *cobra.Command, op *operator, args []string) error {
		in, err := readAll(cmd, args[0])
		if err != nil {
			return err
		}
		if !json.Valid(in) {
			return fmt.Errorf("%w: %s holds no JSON", errUsage, args[0])
		}
		return op.do(cmd.Context(), http.MethodPost, definitionsPath(vhost), json.RawMessage(in), nil)
	})
	cmd.Flags().StringVar(&vhost, "vhost", "", "into this virtual host, from a file that was exported with --vhost")
	return cmd
}

// readAll reads a file, or standard input for "-".
func readAll(cmd *cobra.Command, file string) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(cmd.InOrStdin())
	}
	return os.ReadFile(file)
}
