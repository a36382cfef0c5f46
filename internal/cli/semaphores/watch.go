package semaphores

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"fiveways.dev/fiveways/internal/cli/brokerapi"
	"fiveways.dev/fiveways/internal/cli/display"
	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/internal/semaphores/semjson"

	"github.com/spf13/cobra"
)

var (
	errStreamOver = errors.New("the broker ended the stream of events")
	errOverrun    = errors.New("events are missing, because they came faster than they were printed")
)

func semaphoreWatch() *cobra.Command {
	var task string
	var prefix bool
	cmd := onSemaphores(&cobra.Command{Use: "watch [KEY]", Short: "follow which tasks run, are asked to give way, or are removed", Args: cobra.MaximumNArgs(1),
		Long: `Prints the transitions from now on, until Ctrl-C: those of a semaphore, or without KEY of all that the user may read. To miss none, even when
not watching, bind a queue to the exchange semaphore.events: each transition is a message there.`,
		Example: `  fiveways semaphore watch crowd
  fiveways semaphore watch crowd --task 42 -o json
  fiveways semaphore watch crowd. --prefix     all whose names begin so`,
	}, func(s sems, args []string) error {
		at, q := brokerapi.Path("semaphore-events", s.vhost), url.Values{"task": {task}}
		switch {
		case len(args) == 1 && prefix:
			q.Set("prefix", args[0])
		case len(args) == 1:
			at = s.path(args[0], "events")
		case prefix:
			return fmt.Errorf("%w: --prefix needs KEY", exitcode.ErrUsage)
		}
		ctx, stop := signal.NotifyContext(s.cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		err := s.follow(ctx, at+"?"+q.Encode())
		if ctx.Err() != nil { // interrupted
			return nil
		}
		return err
	})
	cmd.Flags().StringVar(&task, "task", "", "only those of this task")
	cmd.Flags().BoolVar(&prefix, "prefix", false, "all semaphores whose names begin with KEY")
	return cmd
}

// follow prints the events of a stream until it ends, which is an error.
func (s sems) follow(ctx context.Context, at string) error {
	w, err := s.Send(ctx, http.MethodGet, at, nil)
	if err != nil {
		return err
	}
	defer w.Body.Close()
	in := bufio.NewReader(w.Body)
	for event := ""; ; {
		line, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return errStreamOver
		}
		if err != nil {
			return err
		}
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			event = strings.TrimSpace(name)
		} else if data, ok := strings.CutPrefix(line, "data: "); ok {
			if err := s.happened(event, data); err != nil {
				return err
			}
		}
	}
}

// eventLine has columns wide enough for most names, since the longest is not known in advance.
const eventLine = "%-27s %-11s %-20s %-20s %-12s %10s %10s"

// happened prints an event of a stream.
func (s sems) happened(event, data string) error {
	switch event {
	case "open":
		if s.asJSON {
			return nil
		}
		return s.line(eventLine, "TIME", "EVENT", "SEMAPHORE", "TASK", "STATUS", "PRIORITY", "SEQ")
	case "state": // the initial status of the task
		return nil
	case "overrun":
		return errOverrun
	}
	if s.asJSON {
		_, err := io.WriteString(s.out, data)
		return err
	}
	var e semjson.Event
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		return fmt.Errorf("invalid event: %w", err)
	}
	plain := func(text string) string { return strings.Map(display.Shown, text) }
	return s.line(eventLine, e.Time.String(), plain(e.Event), plain(e.Key), plain(e.Task), plain(e.Status), fmt.Sprint(e.Priority), fmt.Sprint(e.Seq))
}
