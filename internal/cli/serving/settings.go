package serving

import (
	"os"

	"fiveways.dev/fiveways/internal/config"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// settings adds --config and one flag per setting to cmd. The returned function loads all layers.
// It is called once the flags are parsed.
func settings(cmd *cobra.Command) func() (config.Config, config.Origins, error) {
	file := cmd.Flags().String("config", "", "TOML file with settings (or "+config.EnvFile+")")
	given := config.Default()
	keys := map[string]string{} // flag -> key
	for _, o := range config.Options() {
		cmd.Flags().Var(o.Value(&given), o.Flag(), o.Help)
		keys[o.Flag()] = o.Key
	}
	cmd.Flags().SortFlags = false
	return func() (config.Config, config.Origins, error) {
		src := config.Sources{File: *file, Env: os.Environ(), Flags: map[string]string{}}
		cmd.Flags().Visit(func(f *pflag.Flag) {
			if key, ok := keys[f.Name]; ok {
				src.Flags[key] = f.Value.String()
			}
		})
		return config.Load(src)
	}
}
