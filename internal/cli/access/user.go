package access

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"fiveways.dev/fiveways/internal/cli/brokerapi"
	"fiveways.dev/fiveways/internal/cli/display"
	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/internal/cli/input"
	"fiveways.dev/fiveways/internal/cli/listing"
	"fiveways.dev/fiveways/internal/protocol/httpapi"

	"github.com/spf13/cobra"
)

// UserCommand returns `fiveways user`.
func UserCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "user",
		Short: "list, add, change and delete users",
		Long: `Changes the users of a broker: of the one that runs on the data folder, or of the folder itself if none runs.
A password is asked for on the terminal, or read from standard input with --password-stdin; never from the command line,
where others can see it.`,
		Example: `  fiveways user add alice
  fiveways user add ops --tags administrator --password-stdin < secret
  fiveways permission set alice '^app' '.*' '.*'
  fiveways user list`,
	}
	cmd.AddCommand(userList(), userAdd(), userPassword(), userTags(), userLimit(), userLoopback(), userDelete())
	return cmd
}

func userList() *cobra.Command {
	var output string
	cmd := listing.Watched(&cobra.Command{Use: "list", Short: "list the users", Example: "  fiveways user list", Args: cobra.NoArgs}, func(cmd *cobra.Command, op *brokerapi.Client, _ []string) error {
		if output == display.FormJSON {
			return listing.PrintAny(cmd, op, brokerapi.Path("users"))
		}
		var users []httpapi.User
		if err := op.Do(cmd.Context(), http.MethodGet, brokerapi.Path("users"), nil, &users); err != nil {
			return err
		}
		return display.Table(cmd.OutOrStdout(), "USER\tTAGS\tFROM\tLIMITS", func(row func(...any)) {
			for _, u := range users {
				from := "anywhere"
				if u.LoopbackOnly {
					from = "loopback"
				}
				row(u.Name, strings.Join(u.Tags, ","), from, limitsText(u.Limits))
			}
		})
	})
	display.Flag(cmd, &output)
	return cmd
}

// limitsText formats limits as "max-channels=5 max-connections=2".
func limitsText(limits map[string]int64) string {
	var parts []string
	for _, name := range []string{"max-channels", "max-connections", "max-publish-bytes-rate", "max-publish-rate", "max-queues"} {
		if n, ok := limits[name]; ok {
			parts = append(parts, name+"="+strconv.FormatInt(n, 10))
		}
	}
	return strings.Join(parts, " ")
}

func userAdd() *cobra.Command {
	var tags []string
	var stdin bool
	cmd := brokerapi.Command(&cobra.Command{
		Use: "add NAME", Short: "add a user without permissions", Args: cobra.ExactArgs(1),
		Example: "  fiveways user add alice && fiveways permission set alice '.*' '.*' '.*'",
	}, func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
		err := op.Do(cmd.Context(), http.MethodGet, brokerapi.Path("users", args[0]), nil, nil)
		if err == nil {
			return fmt.Errorf("user '%s' exists; `fiveways user password` and `fiveways user tags` change it", args[0])
		}
		password, err := input.NewPassword(cmd, stdin)
		if err != nil {
			return err
		}
		return op.Do(cmd.Context(), http.MethodPut, brokerapi.Path("users", args[0]), httpapi.UserChange{Password: &password, Tags: (*httpapi.Tags)(&tags)}, nil)
	})
	cmd.Flags().StringSliceVar(&tags, "tags", nil, "administrator, monitoring, policymaker, management, impersonator; several with commas")
	cmd.Flags().BoolVar(&stdin, "password-stdin", false, "read the password from standard input, one line")
	return cmd
}

func userPassword() *cobra.Command {
	var stdin bool
	cmd := brokerapi.Command(&cobra.Command{
		Use: "password NAME", Short: "change the password of a user", Example: "  fiveways user password alice --password-stdin < secret", Args: cobra.ExactArgs(1),
	}, func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
		if err := op.Do(cmd.Context(), http.MethodGet, brokerapi.Path("users", args[0]), nil, nil); err != nil {
			return err // before asking for the password
		}
		password, err := input.NewPassword(cmd, stdin)
		if err != nil {
			return err
		}
		return op.Do(cmd.Context(), http.MethodPut, brokerapi.Path("users", args[0], "password"), httpapi.PasswordChange{Password: password}, nil)
	})
	cmd.Flags().BoolVar(&stdin, "password-stdin", false, "read the password from standard input, one line")
	return cmd
}

func userTags() *cobra.Command {
	return brokerapi.Command(&cobra.Command{
		Use: "tags NAME [TAG ...]", Short: "set the tags of a user; no TAG clears them", Example: "  fiveways user tags alice management", Args: cobra.MinimumNArgs(1),
	}, func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
		return op.Do(cmd.Context(), http.MethodPut, brokerapi.Path("users", args[0], "tags"), httpapi.TagsChange{Tags: args[1:]}, nil)
	})
}

func userLimit() *cobra.Command {
	return brokerapi.Command(&cobra.Command{
		Use: "limit NAME max-connections|max-channels|max-publish-rate|max-publish-bytes-rate NUMBER|none", Short: "limit a user's connections, channels and publish rates", Args: cobra.ExactArgs(3),
		Example: "  fiveways user limit alice max-connections 10",
	}, func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
		return setLimit(cmd, op, brokerapi.Path("user-limits", args[0], args[1]), args[2])
	})
}

// setLimit sets a limit or, with "none", removes it.
func setLimit(cmd *cobra.Command, op *brokerapi.Client, at, value string) error {
	if value == "none" {
		return op.Do(cmd.Context(), http.MethodDelete, at, nil, nil)
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return fmt.Errorf("%w: a limit is a number or none, not %q", exitcode.ErrUsage, value)
	}
	return op.Do(cmd.Context(), http.MethodPut, at, httpapi.LimitValue{Value: n}, nil)
}

func userLoopback() *cobra.Command {
	return brokerapi.Command(&cobra.Command{
		Use: "from NAME loopback|anywhere", Short: "set where a user may log in from", Example: "  fiveways user from guest anywhere", Args: cobra.ExactArgs(2),
		Long: "User guest may log in from the broker's own machine only. Give it another password before you allow other machines.",
	}, func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
		if args[1] != "loopback" && args[1] != "anywhere" {
			return fmt.Errorf("%w: a user logs in from loopback or from anywhere, not from %q", exitcode.ErrUsage, args[1])
		}
		return op.Do(cmd.Context(), http.MethodPut, brokerapi.Path("users", args[0], "loopback-only"), httpapi.Switch{Value: args[1] == "loopback"}, nil)
	})
}

func userDelete() *cobra.Command {
	var consent input.Consent
	return consent.Flag(brokerapi.Command(&cobra.Command{Use: "delete NAME", Short: "delete a user with its permissions", Example: "  fiveways user delete alice --yes", Args: cobra.ExactArgs(1)},
		func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
			if err := consent.Ask(cmd, "Delete user '%s' with its permissions?", args[0]); err != nil {
				return err
			}
			return op.Do(cmd.Context(), http.MethodDelete, brokerapi.Path("users", args[0]), nil, nil)
		}))
}
