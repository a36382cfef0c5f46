package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"fiveways.dev/fiveways/internal/cli/display"

	"github.com/spf13/cobra"
)

// version is set by the linker from the git tag or commit.
var version = ""

// buildVersion returns the linker's version, or the module version that Go recorded, as after `go
// install`.
func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// build describes how this binary was built.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"` // with "+dirty" for modified files; "unknown" outside a checkout
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// thisBuild returns the build of this binary.
func thisBuild() build {
	b := build{buildVersion(), "unknown", runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.Commit = commit(info.Settings)
	}
	return b
}

// commit returns the commit in the settings of a build.
func commit(settings []debug.BuildSetting) string {
	recorded := map[string]string{}
	for _, s := range settings {
		recorded[s.Key] = s.Value
	}
	switch revision := recorded["vcs.revision"]; {
	case revision == "":
		return "unknown"
	case recorded["vcs.modified"] == "true":
		return revision + "+dirty"
	default:
		return revision
	}
}

// String omits the name of the program, which cobra puts before it for --version.
func (b build) String() string {
	return fmt.Sprintf("%s, commit %s, %s %s", b.Version, b.Commit, b.Go, b.Platform)
}

func versionCommand() *cobra.Command {
	var form string
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "print the version, the commit, the version of Go and the platform",
		Example: "  fiveways version",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if form == display.FormJSON {
				return display.PrintJSON(cmd.OutOrStdout(), thisBuild())
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "fiveways version %s\n", thisBuild())
			return err
		},
	}
	display.Flag(cmd, &form)
	return cmd
}
