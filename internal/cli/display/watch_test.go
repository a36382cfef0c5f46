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

// TestWatch checks that with --watch a state is shown every second until the command is interrupted
// or fails.
func TestWatch(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		flag string
		fail error // the error of the fourth call
		want string
		took time.Duration
	}{{"false", nil, "1\n", 0}, {"true", nil, "1\n2\n3\n4\n", 3 * time.Second}, {"true", broken, "1\n2\n3\n", 3 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			ctx, stop := context.WithCancel(t.Context())
			cmd := &cobra.Command{}
			cmd.SetContext(ctx)
			cmd.SetOut(&out)
			watch := WatchFlag(cmd)
			if err := cmd.Flags().Set("watch", c.flag); err != nil {
				t.Fatal(err)
			}
			start, n := time.Now(), 0
			err := watch(cmd, func() error {
				if n++; n == 4 {
					stop()
					if c.fail != nil {
						return c.fail
					}
				}
				_, err := fmt.Fprintln(cmd.OutOrStdout(), n)
				return err
			})
			stop()
			if took := time.Since(start); !errors.Is(err, c.fail) || out.String() != c.want || took != c.took {
				t.Errorf("--watch=%s: %v after %v, %q", c.flag, err, took, &out)
			}
		})
	}
}
