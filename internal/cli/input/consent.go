package input

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"fiveways.dev/fiveways/internal/cli/display"
	"fiveways.dev/fiveways/internal/cli/exitcode"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// errDeclined means that the user declined the action.
var errDeclined = errors.New("nothing was changed")

// Consent is the user's consent to a command that destroys what no other command can restore.
type Consent struct{ yes bool }

// Flag adds --yes to cmd.
func (c *Consent) Flag(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVarP(&c.yes, "yes", "y", false, "do not ask for confirmation")
	return cmd
}

// Given reports whether --yes was given, so that nothing needs to be asked.
func (c *Consent) Given() bool { return c.yes }

// Ask returns nil if the user consents, with --yes or on the terminal. Without a terminal a missing
// --yes is a usage error.
func (c *Consent) Ask(cmd *cobra.Command, question string, args ...any) error {
	if c.yes {
		return nil
	}
	question = display.OneLine(fmt.Sprintf(question, args...))
	question = strings.Map(display.Shown, question)
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return exitcode.Usage("it needs --yes, as there is no terminal to ask on: %s", question)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s [y/N] ", question)
	answer, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	if err != nil {
		fmt.Fprintln(cmd.ErrOrStderr())
	}
	return errDeclined
}
