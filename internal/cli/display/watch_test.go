package display

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"
)

// TestWatch checks that with --watch a state is shown every second until the command is
// interrupted. An error at first ends it; a later one is shown, and the next call follows.
func TestWatch(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		flag       string
		fail       int // which time fails
		want, errs string
		took       time.Duration
	}{
		{"false", 0, "1\n", "", 0}, {"true", 0, "1\n2\n3\n4\n", "", 4 * time.Second}, {"true", 1, "", "", 0},
		{"true", 3, "1\n2\n4\n", "broken; trying again\n", 4 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out, errs bytes.Buffer
			ctx, stop := context.WithCancel(t.Context())
			cmd := &cobra.Command{}
			cmd.SetContext(ctx)
			cmd.SetOut(&out)
			cmd.SetErr(&errs)
			watch := WatchFlag(cmd)
			if err := cmd.Flags().Set("watch", c.flag); err != nil {
				t.Fatal(err)
			}
			start, n := time.Now(), 0
			err := watch(cmd, func() error {
				if n++; n == c.fail {
					return broken
				}
				if n == 5 {
					stop()
				}
				_, err := fmt.Fprintln(cmd.OutOrStdout(), n)
				return err
			})
			stop()
			if took := time.Since(start); errors.Is(err, broken) != (c.fail == 1) || out.String() != c.want || errs.String() != c.errs || took != c.took {
				t.Errorf("--watch=%s: %v after %v, %q, %q", c.flag, err, took, &out, &errs)
			}
		})
	}
}

// TestFit: a watched state stays within the terminal, and says what it leaves out.
func TestFit(t *testing.T) {
	for _, c := range []struct {
		text          string
		width, height int
		want          string
	}{
		{"1\n2\n3\n", 10, 4, "1\n2\n3\n"}, {"1\n2\n3\n4\n", 20, 4, "1\n2\n… 2 more lines\n"}, {"äöü\nabcd\n", 3, 9, "äöü\nabc\n"}, {"", 3, 9, ""}, {"1\n2\n", 9, 0, "1\n2\n"},
	} {
		if got := string(fit([]byte(c.text), c.width, c.height)); got != c.want {
			t.Errorf("%q in %d x %d is %q, want %q", c.text, c.width, c.height, got, c.want)
		}
	}
}
