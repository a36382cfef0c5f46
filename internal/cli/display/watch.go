package display

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// watchRound is the interval at which a watched output is refreshed.
const watchRound = time.Second

// WatchFlag adds --watch to a command that shows a state. The returned function calls show once, or
// with the flag every second until Ctrl-C. An error of the first call ends it. Later errors are
// shown in place of the state, since a broker that restarts comes back. show prints to cmd's
// output.
func WatchFlag(cmd *cobra.Command) func(cmd *cobra.Command, show func() error) error {
	watch := cmd.Flags().BoolP("watch", "w", false, "show it again every second until Ctrl-C")
	return func(cmd *cobra.Command, show func() error) error {
		if !*watch {
			return show()
		}
		out := cmd.OutOrStdout()
		defer cmd.SetOut(out)
		tick := time.NewTicker(watchRound)
		defer tick.Stop()
		for shown := false; ; shown = true {
			var screen bytes.Buffer
			cmd.SetOut(&screen)
			to := out
			if err := show(); cmd.Context().Err() != nil {
				return nil
			} else if err != nil && !shown {
				return err
			} else if err != nil {
				screen.Reset()
				fmt.Fprintf(&screen, "%s; trying again\n", strings.Map(Shown, OneLine(err.Error())))
				if !IsTerminal(out) {
					to = cmd.ErrOrStderr()
				}
			}
			if err := redraw(to, screen.Bytes()); err != nil {
				return err
			}
			select {
			case <-cmd.Context().Done():
				return nil
			case <-tick.C:
			}
		}
	}
}

// redraw replaces the content of a terminal with as much of the text as fits. On other outputs it
// appends the text.
func redraw(out io.Writer, text []byte) error {
	if f, ok := out.(*os.File); ok && IsTerminal(out) {
		const home, clearLine, clearBelow = "\x1b[H", "\x1b[K", "\x1b[J"
		if width, height, err := term.GetSize(int(f.Fd())); err == nil {
			text = fit(text, width, height)
		}
		text = bytes.ReplaceAll(text, []byte("\n"), []byte(clearLine+"\n"))
		_, err := fmt.Fprintf(out, "%s%s%s", home, text, clearBelow)
		return err
	}
	_, err := out.Write(text)
	return err
}

// fit cuts lines to a width, and leaves out those that a screen of this height has no room for:
// they would scroll the first ones away. The last row is the cursor's.
func fit(text []byte, width, height int) []byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	if rest := len(lines) - height; rest > 0 && height > 2 {
		lines = append(lines[:height-2], fmt.Appendf(nil, "… %d more lines\n", rest+1))
	}
	for i, line := range lines {
		if runes := []rune(string(line)); len(runes) > width+1 {
			lines[i] = []byte(string(runes[:width]) + "\n")
		}
	}
	return bytes.Join(lines, nil)
}

// IsTerminal reports whether out is a terminal.
func IsTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
