package semaphores

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/cli/display"
	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/internal/protocol/httpapi"
	"fiveways.dev/fiveways/internal/semaphores/semjson"

	"github.com/spf13/cobra"
)

// taskBatch is the number of tasks per request.
const taskBatch = 5000

// maxTaskLine is the maximum length of a line of standard input.
const maxTaskLine = 4096

// errStillWaits means that a task did not acquire a place in time.
var errStillWaits = errors.New("the task is still waiting")

// tasks prints tasks and their statuses.
func (s sems) tasks(all []semjson.Task) error {
	if s.asJSON {
		return values(s.out, all)
	}
	return display.Table(s.out, "TASK\tSTATUS\t>PRIORITY\t>POSITION\tENQUEUED\tEXPIRES", func(row func(...any)) {
		for _, t := range all {
			if t.Status == "" {
				row(t.Task, "not there", "", "", "", "")
				continue
			}
			expires := ""
			if t.Expires != nil {
				expires = t.Expires.String()
			}
			row(t.Task, t.Status, t.Priority, t.Position, t.Enqueued, expires)
		}
	})
}

func semaphoreTasks() *cobra.Command {
	var from, limit int
	var status []string
	cmd := onSemaphoresWatched(&cobra.Command{Use: "tasks KEY", Short: "list the tasks of a semaphore, the most urgent first", Args: cobra.ExactArgs(1),
		Example: `  fiveways semaphore tasks crowd
  fiveways semaphore tasks crowd --status TRY_RELEASE
  fiveways semaphore tasks crowd --from 1001 --limit 20`,
	}, func(s sems, args []string) error {
		var all []semjson.Task
		for next := from; ; {
			q := url.Values{"from": {strconv.Itoa(next)}, "limit": {strconv.Itoa(min(limit-len(all), semaphorePage))}, "status": {strings.Join(status, ",")}}
			var page httpapi.TaskPage
			if err := s.do(http.MethodGet, 0, s.path(args[0], "tasks")+"?"+q.Encode(), nil, &page); err != nil {
				return err
			}
			all = append(all, page.Tasks...)
			if next = page.Next; next == 0 || len(all) >= limit {
				return s.some(s.tasks(all), next != 0)
			}
		}
	})
	cmd.Flags().IntVar(&from, "from", 1, "position of the first task")
	cmd.Flags().IntVar(&limit, "limit", 50, "maximum number")
	cmd.Flags().StringSliceVar(&status, "status", nil, "only WAIT, ACQUIRED or TRY_RELEASE; several with commas")
	return cmd
}

func semaphoreEnqueue() *cobra.Command {
	var lease, wait time.Duration
	cmd := onSemaphores(&cobra.Command{Use: "enqueue KEY [TASK PRIORITY]", Short: "enqueue a task, or change its priority",
		Long: `Without TASK and PRIORITY they are read from standard input, one line per task with both, separated by blanks. Then batches of some thousand
tasks are enqueued before the first of them is acquired.`,
		Example: `  fiveways semaphore enqueue crowd 42 5
  fiveways semaphore enqueue crowd 42 5 --wait 1m && ./work 42
  fiveways semaphore enqueue crowd < tasks.txt`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 && len(args) != 3 {
				return fmt.Errorf("give KEY, TASK and PRIORITY, or KEY and the tasks on standard input")
			}
			return nil
		},
	}, func(s sems, args []string) error {
		if len(args) == 1 {
			if wait != 0 {
				return fmt.Errorf("%w: --wait is for one task", exitcode.ErrUsage)
			}
			return s.enqueueLines(args[0], lease)
		}
		priority, err := priorityOf(args[2])
		if err != nil {
			return fmt.Errorf("%w: %w", exitcode.ErrUsage, err)
		}
		return s.enqueueOne(args[0], args[1], httpapi.TaskChange{Priority: &priority, Lease: lease.Milliseconds()}, wait)
	})
	cmd.Flags().DurationVar(&lease, "lease", 0, "how long it may run without being renewed; 0: the semaphore's lease")
	cmd.Flags().DurationVar(&wait, "wait", 0, "wait this long for the task to run; fails if it does not, and the task stays enqueued")
	return cmd
}

func priorityOf(text string) (float64, error) {
	p, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(p) || math.IsInf(p, 0) {
		return 0, fmt.Errorf("a priority is a number such as 5 or -0.25, not %q", text)
	}
	return p, nil
}

func (s sems) enqueueOne(key, task string, change httpapi.TaskChange, wait time.Duration) error {
	at := s.path(key, "tasks", task)
	if wait > 0 {
		at += "?wait=" + wait.String()
	}
	var t semjson.Task
	if err := s.do(http.MethodPut, wait, at, change, &t); err != nil {
		return err
	}
	err := s.tasks([]semjson.Task{t})
	if err == nil && wait > 0 && t.Status == "WAIT" {
		err = errStillWaits
	}
	return err
}

// enqueueLines enqueues the tasks on standard input, taskBatch at a time.
func (s sems) enqueueLines(key string, lease time.Duration) error {
	var total, added, running int
	err := s.batches(func(lines []inputLine) error {
		first, last := lines[0].number, lines[len(lines)-1].number
		in := httpapi.Entries{Tasks: make([]semjson.Entry, len(lines))}
		for i, line := range lines {
			e, err := entryOf(line.text)
			if err != nil {
				return fmt.Errorf("%w: line %d: %w; nothing from line %d on was enqueued", exitcode.ErrUsage, line.number, err, first)
			}
			e.Lease = lease.Milliseconds()
			in.Tasks[i] = e
		}
		var out httpapi.Enqueued
		if err := s.do(http.MethodPost, 0, s.path(key, "tasks"), in, &out); err != nil {
			return fmt.Errorf("lines %d to %d: %w", first, last, err)
		}
		total, added = total+len(out.Tasks), added+out.Added
		for _, t := range out.Tasks {
			if t.Status != "WAIT" {
				running++
			}
		}
		if s.asJSON {
			return values(s.out, out.Tasks)
		}
		return nil
	})
	if err != nil || s.asJSON {
		return err
	}
	return s.line("%d enqueued, %d of them new: %d run, %d wait", total, added, running, total-running)
}

// entryOf parses a line with a task and its priority.
func entryOf(line string) (semjson.Entry, error) {
	cut := strings.LastIndexAny(line, " \t")
	if cut < 0 {
		return semjson.Entry{}, fmt.Errorf("%q has no priority; a line is a task and its priority, such as: 42 5", line)
	}
	p, err := priorityOf(line[cut+1:])
	return semjson.Entry{Task: semjson.TaskID(strings.TrimRight(line[:cut], " \t")), Priority: &p}, err
}

// inputLine is a line of standard input with its number, from 1.
type inputLine struct {
	number int
	text   string
}

// batches reads the lines of standard input that are not blank, and passes them to do, taskBatch at
// a time.
func (s sems) batches(do func([]inputLine) error) error {
	in := bufio.NewScanner(s.cmd.InOrStdin())
	in.Buffer(nil, maxTaskLine)
	var batch []inputLine
	number := 0
	for in.Scan() {
		number++
		if text := strings.TrimSpace(in.Text()); text != "" {
			batch = append(batch, inputLine{number, text})
		}
		if len(batch) < taskBatch {
			continue
		}
		if err := do(batch); err != nil {
			return err
		}
		batch = batch[:0]
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("standard input, line %d: %w", number+1, err)
	}
	if len(batch) == 0 {
		return nil
	}
	return do(batch)
}

func semaphoreRelease() *cobra.Command {
	return onSemaphores(&cobra.Command{Use: "release KEY [TASK ...]", Short: "release tasks, running or waiting", Args: cobra.MinimumNArgs(1),
		Long: "Without TASK they are read from standard input, one per line. The first waiting task runs instead.",
		Example: `  fiveways semaphore release crowd 42
  fiveways semaphore release crowd < done.txt`,
	}, func(s sems, args []string) error {
		out := httpapi.Released{Released: []string{}, Missing: []string{}}
		err := s.named(args, "release", func(in httpapi.TaskNames, at string) error {
			var some httpapi.Released
			err := s.do(http.MethodPost, 0, at, in, &some)
			out.Released, out.Missing = append(out.Released, some.Released...), append(out.Missing, some.Missing...)
			return err
		})
		if err != nil && len(out.Released) == 0 {
			return err
		}
		if s.asJSON {
			return errors.Join(values(s.out, []httpapi.Released{out}), err)
		}
		return errors.Join(s.line("%d released, %d not there", len(out.Released), len(out.Missing)), err)
	})
}

func semaphoreRenew() *cobra.Command {
	return onSemaphores(&cobra.Command{Use: "renew KEY [TASK ...]", Short: "restart the leases of running tasks", Args: cobra.MinimumNArgs(1),
		Long:    "Without TASK they are read from standard input, one per line.",
		Example: "  fiveways semaphore renew crowd 42",
	}, func(s sems, args []string) error {
		out := httpapi.Renewed{Renewed: []string{}, NotRunning: []string{}}
		err := s.named(args, "renew", func(in httpapi.TaskNames, at string) error {
			var some httpapi.Renewed
			err := s.do(http.MethodPost, 0, at, in, &some)
			out.Renewed, out.NotRunning = append(out.Renewed, some.Renewed...), append(out.NotRunning, some.NotRunning...)
			return err
		})
		if err != nil && len(out.Renewed) == 0 {
			return err
		}
		if s.asJSON {
			return errors.Join(values(s.out, []httpapi.Renewed{out}), err)
		}
		return errors.Join(s.line("%d renewed, %d do not run", len(out.Renewed), len(out.NotRunning)), err)
	})
}

// named calls do with the tasks named on the command line or on standard input.
func (s sems) named(args []string, what string, do func(in httpapi.TaskNames, at string) error) error {
	at := s.path(args[0], "tasks", what)
	if len(args) > 1 {
		var in httpapi.TaskNames
		for _, name := range args[1:] {
			in.Tasks = append(in.Tasks, semjson.TaskID(name))
		}
		return do(in, at)
	}
	return s.batches(func(lines []inputLine) error {
		var in httpapi.TaskNames
		for _, line := range lines {
			in.Tasks = append(in.Tasks, semjson.TaskID(line.text))
		}
		return do(in, at)
	})
}
