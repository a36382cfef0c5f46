package cli

import (
	"cmp"
	"fmt"
	"text/tabwriter"

	"fiveways/internal/config"

	"github.com/spf13/cobra"
)

func configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "print every setting in force and where it came from",
		Long: `Reads the settings as serve would and prints each with its origin: the default, a line of the TOML file,
an environment variable, or a flag. Starts nothing, so it also checks a file before it is put to use.`,
		Example: `  fiveways config
  fiveways config --config fiveways.toml
  FIVEWAYS_SYNC=os fiveways config --memory-limit 1GiB`,
		Args: cobra.NoArgs,
	}
	load := settings(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, origins, err := load()
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
		for _, o := range config.Options() {
			fmt.Fprintf(w, "%s\t%s\t%s\n", o.Key, cmp.Or(o.Value(&cfg).String(), `""`), origins[o.Key])
		}
		return w.Flush()
	}
	return cmd
}
