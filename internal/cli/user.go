package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"fiveways/internal/protocol/httpapi"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func userCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "user",
		Short: "list, add, change and delete users",
		Long: `Changes the users of a broker: of the one that runs on the data folder, else of the folder itself.
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
	cmd := operate(&cobra.Command{Use: "list", Short: "list the users", Args: cobra.NoArgs}, func(cmd *cobra.Command, op *operator, _ []string) error {
		if output == outputJSON {
			return op.printAny(cmd, path("users"))
		}
		var users []httpapi.User
		if err := op.do(cmd.Context(), http.MethodGet, path("users"), nil, &users); err != nil {
			return err
		}
		return table(cmd.OutOrStdout(), "USER\tTAGS\tFROM\tLIMITS", func(row func(...any)) {
			for _, u := range users {
				from := "anywhere"
				if u.LoopbackOnly {
					from = "loopback"
				}
				row(u.Name, strings.Join(u.Tags, ","), from, limitsText(u.Limits))
			}
		})
	})
	outputFlag(cmd, &output)
	return cmd
}

// limitsText shows limits as "max-channels=5 max-connections=2".
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
	cmd := operate(&cobra.Command{
		Use: "add NAME", Short: "add a user, who may do nothing yet", Args: cobra.ExactArgs(1),
		Example: "  fiveways user add alice && fiveways permission set alice '.*' '.*' '.*'",
	}, func(cmd *cobra.Command, op *operator, args []string) error {
		err := op.do(cmd.Context(), http.MethodGet, path("users", args[0]), nil, nil)
		if err == nil {
			return fmt.Errorf("user '%s' exists; `fiveways user password` and `fiveways user tags` change it", args[0])
		}
		password, err := readPassword(cmd, stdin)
		if err != nil {
			return err
		}
		return op.do(cmd.Context(), http.MethodPut, path("users", args[0]), httpapi.UserChange{Password: &password, Tags: (*httpapi.Tags)(&tags)}, nil)
	})
	cmd.Flags().StringSliceVar(&tags, "tags", nil, "administrator, monitoring, policymaker, management, impersonator; several with commas")
	cmd.Flags().BoolVar(&stdin, "password-stdin", false, "read the password from standard input, one line")
	return cmd
}

func userPassword() *cobra.Command {
	var stdin bool
	cmd := operate(&cobra.Command{
		Use: "password NAME", Short: "give a user another password", Args: cobra.ExactArgs(1),
	}, func(cmd *cobra.Command, op *operator, args []string) error {
		if err := op.do(cmd.Context(), http.MethodGet, path("users", args[0]), nil, nil); err != nil {
			return err // before the password is asked for
		}
		password, err := readPassword(cmd, stdin)
		if err != nil {
			return err
		}
		return op.do(cmd.Context(), http.MethodPut, path("users", args[0], "password"), httpapi.PasswordChange{Password: password}, nil)
	})
	cmd.Flags().BoolVar(&stdin, "password-stdin", false, "read the password from standard input, one line")
	return cmd
}

func userTags() *cobra.Command {
	return operate(&cobra.Command{
		Use: "tags NAME [TAG ...]", Short: "set the tags of a user; without a tag it has none", Args: cobra.MinimumNArgs(1),
	}, func(cmd *cobra.Command, op *operator, args []string) error {
		return op.do(cmd.Context(), http.MethodPut, path("users", args[0], "tags"), httpapi.TagsChange{Tags: args[1:]}, nil)
	})
}

func userLimit() *cobra.Command {
	return operate(&cobra.Command{
		Use: "limit NAME max-connections|max-channels|max-publish-rate|max-publish-bytes-rate NUMBER|none", Short: "bound what a user may open, and publish in a second", Args: cobra.ExactArgs(3),
		Example: "  fiveways user limit alice max-connections 10",
	}, func(cmd *cobra.Command, op *operator, args []string) error {
		return setLimit(cmd, op, path("user-limits", args[0], args[1]), args[2])
	})
}

// setLimit sets or, with "none", takes away a limit.
func setLimit(cmd *cobra.Command, op *operator, at, value string) error {
	if value == "none" {
		return op.do(cmd.Context(), http.MethodDelete, at, nil, nil)
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return fmt.Errorf("%w: a limit is a number or none, not %q", errUsage, value)
	}
	return op.do(cmd.Context(), http.MethodPut, at, httpapi.LimitValue{Value: n}, nil)
}

func userLoopback() *cobra.Command {
	return operate(&cobra.Command{
		Use: "from NAME loopback|anywhere", Short: "say from where a user may log in", Args: cobra.ExactArgs(2),
		Long: "User guest may log in from the broker's own machine only. Give it another password before you open it to others.",
	}, func(cmd *cobra.Command, op *operator, args []string) error {
		if args[1] != "loopback" && args[1] != "anywhere" {
			return fmt.Errorf("%w: a user logs in from loopback or from anywhere, not from %q", errUsage, args[1])
		}
		return op.do(cmd.Context(), http.MethodPut, path("users", args[0], "loopback-only"), httpapi.Switch{Value: args[1] == "loopback"}, nil)
	})
}

func userDelete() *cobra.Command {
	return operate(&cobra.Command{Use: "delete NAME", Short: "delete a user with its permissions", Args: cobra.ExactArgs(1)},
		func(cmd *cobra.Command, op *operator, args []string) error {
			return op.do(cmd.Context(), http.MethodDelete, path("users", args[0]), nil, nil)
		})
}

// readPassword asks on the terminal, twice, or takes the first line of standard input.
func readPassword(cmd *cobra.Command, stdin bool) (string, error) {
	if stdin {
		line, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			return line, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		return "", fmt.Errorf("%w: standard input holds no password", errUsage)
	}
	fd := int(os.Stdin.Fd())
	if !term.IsTerminal(fd) {
		return "", fmt.Errorf("%w: no terminal to ask for a password; use --password-stdin", errUsage)
	}
	ask := func(prompt string) (string, error) { return askPassword(cmd.ErrOrStderr(), fd, prompt) }
	first, err := ask("Password: ")
	if err != nil {
		return "", err
	}
	second, err := ask("Once more: ")
	switch {
	case err != nil:
		return "", err
	case first != second:
		return "", fmt.Errorf("%w: the two passwords differ", errUsage)
	case first == "":
		return "", fmt.Errorf("%w: an empty password lets nobody in", errUsage)
	}
	return first, nil
}

// table prints rows under a heading, in columns. Names and messages come from others: control characters in them, which
// a terminal would obey, are shown as �.
func table(out io.Writer, heading string, rows func(row func(...any))) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, heading)
	rows(func(cells ...any) {
		for i, c := range cells {
			if i > 0 {
				fmt.Fprint(w, "\t")
			}
			fmt.Fprint(w, strings.Map(shown, fmt.Sprint(c)))
		}
		fmt.Fprintln(w)
	})
	return w.Flush()
}

// shown is what is printed for a character.
func shown(r rune) rune {
	if unicode.IsControl(r) {
		return unicode.ReplacementChar
	}
	return r
}
