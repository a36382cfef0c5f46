package input

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"fiveways.dev/fiveways/internal/cli/exitcode"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// ArgumentsFlag adds --argument, whose values Arguments reads.
func ArgumentsFlag(cmd *cobra.Command, given *[]string) {
	cmd.Flags().StringArrayVar(given, "argument", nil, "NAME=VALUE, a number, true, false, other JSON or else a text; may be repeated")
}

// Arguments parses NAME=VALUE pairs. A value that is valid JSON is decoded, any other is a string.
func Arguments(given []string) (map[string]any, error) {
	all := map[string]any{}
	for _, pair := range given {
		name, text, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%w: %q is not NAME=VALUE", exitcode.ErrUsage, pair)
		}
		all[name] = text
		if json.Valid([]byte(text)) {
			all[name] = json.RawMessage(text)
		}
	}
	return all, nil
}

// ReadAll reads a file, or standard input for "-".
func ReadAll(cmd *cobra.Command, file string) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(cmd.InOrStdin())
	}
	return os.ReadFile(file)
}

// NewPassword asks for a password on the terminal, twice, or reads the first line of standard
// input.
func NewPassword(cmd *cobra.Command, stdin bool) (string, error) {
	if stdin {
		line, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			return line, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		return "", fmt.Errorf("%w: standard input contains no password", exitcode.ErrUsage)
	}
	fd := int(os.Stdin.Fd())
	if !term.IsTerminal(fd) {
		return "", fmt.Errorf("%w: no terminal to ask for a password; use --password-stdin", exitcode.ErrUsage)
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
		return "", fmt.Errorf("%w: the two passwords differ", exitcode.ErrUsage)
	case first == "":
		return "", fmt.Errorf("%w: an empty password cannot log in", exitcode.ErrUsage)
	}
	return first, nil
}

// PasswordOf returns the password of a user: from an environment variable, the well-known one of
// guest, or asked for on the terminal. An empty user becomes guest.
func PasswordOf(cmd *cobra.Command, user *string, variable string) (string, error) {
	const guest = "guest"
	if *user == "" {
		*user = guest
	}
	if password, ok := os.LookupEnv(variable); ok {
		return password, nil
	}
	if *user == guest {
		return guest, nil
	}
	fd := int(os.Stdin.Fd())
	if !term.IsTerminal(fd) {
		return "", fmt.Errorf("%w: no terminal to ask for the password of %s; give it as %s", exitcode.ErrUsage, *user, variable)
	}
	return askPassword(cmd.ErrOrStderr(), fd, "Password of "+*user+": ")
}

// errInterrupted means that the user pressed Ctrl-C in place of an answer.
var errInterrupted = errors.New("interrupted")

// askPassword asks for a password on a terminal. Ctrl-C turns the terminal's echo on again, without
// which the shell would not show what is typed next.
func askPassword(out io.Writer, fd int, prompt string) (string, error) {
	before, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	defer signal.Stop(interrupted)
	fmt.Fprint(out, prompt)
	defer fmt.Fprintln(out)
	var typed []byte
	read := make(chan error, 1)
	go func() {
		var err error
		typed, err = term.ReadPassword(fd)
		read <- err
	}()
	select {
	case err := <-read:
		return string(typed), err
	case <-interrupted:
		return "", cmp.Or(term.Restore(fd, before), errInterrupted)
	}
}
