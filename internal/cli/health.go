package cli

import (
	"fmt"
	"net/http"

	"github.com/spf13/cobra"
)

// healthChecks are the checks of the API that `fiveways health` asks, in this order.
var healthChecks = []string{"local-alarms", "virtual-hosts"}

func healthCommand() *cobra.Command {
	return operateRunning(&cobra.Command{
		Use: "health", Short: "tell whether a broker runs and takes messages", Args: cobra.NoArgs,
		Long: `Prints "ok" and ends with exit code 0 when the broker answers, no alarm holds publishers back and every virtual host is up; else it says what is
wrong, with exit code 1. It opens no data folder, so it is cheap and safe to call every few seconds.`,
		Example: `  fiveways health
  fiveways health --data /var/lib/fiveways
  fiveways health --url https://monitor@broker:15672 --ca ca.pem`,
	}, func(cmd *cobra.Command, op *operator, _ []string) error {
		for _, check := range healthChecks {
			if err := op.do(cmd.Context(), http.MethodGet, path("health", "checks", check), nil, nil); err != nil {
				return fmt.Errorf("%s: %w", check, err)
			}
		}
		_, err := fmt.Fprintln(cmd.OutOrStdout(), "ok")
		return err
	})
}
