package monitoring

import (
	"fmt"
	"net/http"

	"fiveways.dev/fiveways/internal/cli/brokerapi"

	"github.com/spf13/cobra"
)

// healthChecks are the API's checks that `fiveways health` runs, in order.
var healthChecks = []string{"local-alarms", "virtual-hosts"}

// HealthCommand returns `fiveways health`.
func HealthCommand() *cobra.Command {
	return brokerapi.RunningCommand(&cobra.Command{
		Use: "health", Short: "check whether a broker runs and accepts messages", Args: cobra.NoArgs,
		Long: `Prints "ok" and ends with exit code 0 if the broker answers, no alarm blocks publishers and every virtual host is up; otherwise it says what is
wrong, with exit code 1. It opens no data folder, so it is cheap and safe to call every few seconds.`,
		Example: `  fiveways health
  fiveways health --data /var/lib/fiveways
  fiveways health --url https://monitor@broker:15672 --ca ca.pem`,
	}, func(cmd *cobra.Command, op *brokerapi.Client, _ []string) error {
		for _, check := range healthChecks {
			if err := op.Do(cmd.Context(), http.MethodGet, brokerapi.Path("health", "checks", check), nil, nil); err != nil {
				return fmt.Errorf("%s: %w", check, err)
			}
		}
		_, err := fmt.Fprintln(cmd.OutOrStdout(), "ok")
		return err
	})
}
