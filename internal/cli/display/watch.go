package display

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// watchRound is the interval at which a watched output is refreshed.
const watchRound = time.Second

// WatchFlag adds --watch to a command that shows a state. The returned function calls show once, or
// with the flag every second until Ctrl-C or the first error. show prints to cmd's output.
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
		for {
			var screen bytes.Buffer
			cmd.SetOut(&screen)
			if err := show(); err != nil {
				return err
			}
			if err := redraw(out, screen.Bytes()); err != nil {
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

// redraw replaces the content of a terminal. On other outputs it appends the text.
func redraw(out io.Writer, text []byte) error {
	if IsTerminal(out) {
		const home, clearLine, clearBelow = "\x1b[H", "\x1b[K", "\x1b[J"
		text = bytes.ReplaceAll(text, []byte("\n"), []byte(clearLine+"\n"))
		_, err := fmt.Fprintf(out, "%s%s%s", home, text, clearBelow)
		return err
	}
	_, err := out.Write(text)
	return err
}

// IsTerminal reports whether out is a terminal.
func IsTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
