package serving

import (
	"cmp"
	"fmt"
	"text/tabwriter"

	"fiveways.dev/fiveways/internal/cli/display"
	"fiveways.dev/fiveways/internal/config"

	"github.com/spf13/cobra"
)

// setting is a setting in force, with its origin.
type setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
}

// ConfigCommand returns `fiveways config`.
func ConfigCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "print all settings in effect and where each comes from",
		Long: `Reads the settings as serve would and prints each with its origin: the default, a line of the TOML file,
an environment variable, or a flag. Starts nothing, so it can check a file before you use it.`,
		Example: `  fiveways config
  fiveways config --config fiveways.toml
  FIVEWAYS_SYNC=os fiveways config --memory-limit 1GiB`,
		Args: cobra.NoArgs,
	}
	load := settings(cmd)
	var output string
	display.Flag(cmd, &output)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, origins, err := load()
		if err != nil {
			return err
		}
		all := make([]setting, 0, len(config.Options()))
		for _, o := range config.Options() {
			all = append(all, setting{o.Key, o.Value(&cfg).String(), origins[o.Key]})
		}
		if output == display.FormJSON {
			return display.PrintJSON(cmd.OutOrStdout(), all)
		}
		w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
		for _, s := range all {
			fmt.Fprintf(w, "%s\t%s\t%s\n", s.Key, cmp.Or(s.Value, `""`), s.Origin)
		}
		return w.Flush()
	}
	return cmd
}
