package input

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"testing"

	"fiveways.dev/fiveways/internal/cli/exitcode"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

// terminal makes a pseudo-terminal the standard input, and returns the end at which a user types.
func terminal(t *testing.T) (user *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	t.Cleanup(func() { user.Close() }) //nolint:errcheck // nothing is to be kept
	number, err := unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	before := os.Stdin
	os.Stdin = program
	t.Cleanup(func() { os.Stdin = before; program.Close() }) //nolint:errcheck // as above
	return user
}

// TestConsent checks that destructive commands ask on a terminal, and are rejected without one.
func TestConsent(t *testing.T) {
	ask := func(c *Consent) (asked string, err error) {
		var errs bytes.Buffer
		cmd := &cobra.Command{}
		cmd.SetErr(&errs)
		err = c.Ask(cmd, "Delete queue '%s'?", "a\x1bb")
		return errs.String(), err
	}
	none, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer none.Close()
	before := os.Stdin
	os.Stdin = none
	asked, err := ask(new(Consent))
	os.Stdin = before
	if !errors.Is(err, exitcode.ErrUsage) || asked != "" {
		t.Errorf("without a terminal: %v, asked %q", err, asked)
	}
	user := terminal(t)
	for answer, want := range map[string]error{"y\n": nil, "YES\n": nil, "\n": errDeclined, "n\n": errDeclined, "yesterday\n": errDeclined} {
		if _, err := user.WriteString(answer); err != nil {
			t.Fatal(err)
		}
		if asked, err := ask(new(Consent)); !errors.Is(err, want) || asked != "Delete queue 'a\ufffdb'? [y/N] " {
			t.Errorf("%q: %v, want %v; asked %q", answer, err, want, asked)
		}
	}
	if asked, err := ask(&Consent{yes: true}); err != nil || asked != "" {
		t.Errorf("--yes: %v, asked %q", err, asked)
	}
}
