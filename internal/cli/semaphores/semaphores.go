package semaphores

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"fiveways.dev/fiveways/internal/cli/brokerapi"
	"fiveways.dev/fiveways/internal/cli/display"
	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/internal/cli/input"
	"fiveways.dev/fiveways/internal/cli/listing"
	"fiveways.dev/fiveways/internal/protocol/httpapi"
	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/semaphores/semjson"

	"github.com/spf13/cobra"
)

// Verdicts are the exit codes of errors about semaphores, each with a hint.
var Verdicts = []exitcode.Verdict{
	{Err: semaphores.ErrNotFound, Code: exitcode.Failure, Hint: "`fiveways semaphore list` shows the existing ones, `fiveways semaphore set KEY` creates one."},
	{Err: errStillWaits, Code: exitcode.Failure, Hint: "It stays enqueued; `fiveways semaphore show KEY TASK` shows its position, `release` removes it."},
	{Err: errStreamOver, Code: exitcode.Failure, Hint: "When the broker is back, `fiveways semaphore tasks` shows the current state; a queue bound to the exchange semaphore.events misses nothing."},
	{Err: errOverrun, Code: exitcode.Failure, Hint: "`fiveways semaphore tasks` shows the current state; a queue bound to the exchange semaphore.events misses nothing."},
}

// Command returns `fiveways semaphore`.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "semaphore",
		Short: "let the N highest-priority tasks run: set semaphores, enqueue and release tasks, follow events",
		Long: `A semaphore lets its --active highest-priority tasks run; the others wait. Of the running tasks, the last --try-release
may be asked to give way to more urgent ones. The commands work with the broker on the data folder, or with the one at --url, as its user;
install needs no broker.`,
		Example: `  fiveways semaphore set crowd --active 1000 --try-release 900
  fiveways semaphore enqueue crowd 42 5
  fiveways semaphore enqueue crowd < tasks.txt     lines with a task and its priority
  fiveways semaphore show crowd
  fiveways semaphore tasks crowd --status ACQUIRED
  fiveways semaphore release crowd 42
  fiveways semaphore watch crowd
  fiveways semaphore list --url http://alice@broker.example:15672 -o json`,
	}
	cmd.AddCommand(semaphoreList(), semaphoreShow(), semaphoreSet(), semaphoreDelete(), semaphoreTasks(), semaphoreEnqueue(), semaphoreRelease(),
		semaphoreRenew(), semaphoreWatch(), semaphoreInstall())
	return cmd
}

// semaphorePage is the number of semaphores or tasks per request.
const semaphorePage = 500

// sems is the broker of a command about semaphores, and the form of its output.
type sems struct {
	*brokerapi.Client
	cmd    *cobra.Command
	out    io.Writer
	vhost  string
	asJSON bool
}

// onSemaphores adds the flags for the broker, the virtual host and the output to cmd, and makes run
// its action.
func onSemaphores(cmd *cobra.Command, run func(s sems, args []string) error) *cobra.Command {
	var vhost, output string
	cmd = listing.OnVHost(brokerapi.Command(cmd, func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
		if !op.Running {
			return fmt.Errorf("semaphores need a running broker: %w", brokerapi.ErrNoBroker)
		}
		return run(sems{op, cmd, cmd.OutOrStdout(), vhost, output == display.FormJSON}, args)
	}), &vhost)
	display.Flag(cmd, &output)
	cmd.Flags().Lookup("output").Usage = display.LineUsage
	return cmd
}

// onSemaphoresWatched is onSemaphores for a command that shows a state, which --watch repeats.
func onSemaphoresWatched(cmd *cobra.Command, run func(s sems, args []string) error) *cobra.Command {
	watch := display.WatchFlag(cmd)
	return onSemaphores(cmd, func(s sems, args []string) error {
		return watch(s.cmd, func() error {
			s.out = s.cmd.OutOrStdout()
			return run(s, args)
		})
	})
}

// do sends a request about semaphores of the virtual host. patience is how much longer than usual
// it may take.
func (s sems) do(method string, patience time.Duration, at string, in, out any) error {
	return s.DoWithin(s.cmd.Context(), brokerapi.Patience+patience, method, at, in, out)
}

func (s sems) path(segments ...string) string {
	return brokerapi.Path(append([]string{"semaphores", s.vhost}, segments...)...)
}

func (s sems) line(format string, args ...any) error {
	_, err := fmt.Fprintf(s.out, format+"\n", args...)
	return err
}

// values prints JSON, one value per line.
func values[T any](out io.Writer, all []T) error {
	w := json.NewEncoder(out)
	for _, v := range all {
		if err := w.Encode(v); err != nil {
			return err
		}
	}
	return nil
}

// describe prints semaphores.
func (s sems) describe(all ...semjson.Semaphore) error {
	if s.asJSON {
		return values(s.out, all)
	}
	count := func(n int) string { return display.Count(strconv.Itoa(n)) }
	return display.Table(s.out, "VHOST\tSEMAPHORE\t>ACTIVE\t>TRY RELEASE\tORDER\t>LEASE\t>WAITING\t>ACQUIRED\t>ASKED", func(row func(...any)) {
		for _, v := range all {
			row(v.VHost, v.Key, count(v.Active), count(v.TryRelease), v.Order, leaseText(v.Lease), count(v.Waiting), count(v.Acquired), count(v.TryReleaseAsked))
		}
	})
}

// leaseText formats a lease in ms, or returns "-" for none.
func leaseText(ms int64) string {
	if ms == 0 {
		return "-"
	}
	return (time.Duration(ms) * time.Millisecond).String()
}

func semaphoreList() *cobra.Command {
	var contains string
	var limit int
	cmd := onSemaphoresWatched(&cobra.Command{Use: "list", Short: "list semaphores with the counts of running and waiting tasks", Args: cobra.NoArgs,
		Example: `  fiveways semaphore list
  fiveways semaphore list --vhost "" --contains crowd   of all virtual hosts`,
	}, func(s sems, _ []string) error {
		var all []semjson.Semaphore
		at := s.path()
		if s.vhost == "" {
			at = brokerapi.Path("semaphores")
		}
		for q := (url.Values{"contains": {contains}}); ; {
			q.Set("limit", strconv.Itoa(min(limit-len(all), semaphorePage)))
			var page httpapi.SemaphoreList
			if err := s.do(http.MethodGet, 0, at+"?"+q.Encode(), nil, &page); err != nil {
				return err
			}
			all = append(all, page.Semaphores...)
			if page.Next == "" || len(all) >= limit {
				return s.some(s.describe(all...), page.Next != "")
			}
			q.Set("after", page.Next)
		}
	})
	cmd.Flags().StringVar(&contains, "contains", "", "only names that contain this")
	cmd.Flags().IntVar(&limit, "limit", 50, "maximum number")
	cmd.Flags().Lookup("vhost").Usage = `virtual host; "" for all`
	return cmd
}

// some prints a note that there are more, after the list.
func (s sems) some(err error, more bool) error {
	if err != nil || !more || s.asJSON {
		return err
	}
	return s.line("and more: see --limit")
}

func semaphoreShow() *cobra.Command {
	return onSemaphoresWatched(&cobra.Command{Use: "show KEY [TASK ...]", Short: "show a semaphore, or the state of tasks", Args: cobra.MinimumNArgs(1),
		Example: `  fiveways semaphore show crowd
  fiveways semaphore show crowd 42 43`,
	}, func(s sems, args []string) error {
		if len(args) == 1 {
			var v semjson.Semaphore
			if err := s.do(http.MethodGet, 0, s.path(args[0]), nil, &v); err != nil {
				return err
			}
			return s.describe(v)
		}
		var page httpapi.TaskPage
		if err := s.do(http.MethodGet, 0, s.path(args[0], "tasks")+"?"+url.Values{"task": args[1:]}.Encode(), nil, &page); err != nil {
			return err
		}
		return s.tasks(page.Tasks)
	})
}

func semaphoreSet() *cobra.Command {
	var active, tryRelease int
	var order string
	var lease time.Duration
	cmd := &cobra.Command{Use: "set KEY", Short: "create or change a semaphore", Args: cobra.ExactArgs(1),
		Long: "Settings that are not given keep their value, or their default for a new semaphore. A change takes effect at once.",
		Example: `  fiveways semaphore set crowd
  fiveways semaphore set crowd --active 500
  fiveways semaphore set deadlines --order asc --lease 10m`,
	}
	cmd.Flags().IntVar(&active, "active", 1000, "how many tasks may run; 0: no task starts")
	cmd.Flags().IntVar(&tryRelease, "try-release", 900, "how many running tasks, from the last, may be asked to give way")
	cmd.Flags().StringVar(&order, "order", semjson.Descending, "desc: larger numbers are more urgent; asc: smaller ones")
	cmd.Flags().DurationVar(&lease, "lease", 0, "a running task that is not renewed for this long is removed; 0: never")
	return onSemaphores(cmd, func(s sems, args []string) error {
		var in semjson.Settings
		flags := s.cmd.Flags()
		if flags.Changed("active") {
			in.Active = &active
		}
		if flags.Changed("try-release") {
			in.TryRelease = &tryRelease
		}
		if flags.Changed("order") {
			in.Order = &order
		}
		if flags.Changed("lease") {
			in.Lease = new(lease.Milliseconds())
		}
		return s.do(http.MethodPut, 0, s.path(args[0]), in, nil)
	})
}

func semaphoreDelete() *cobra.Command {
	var ifEmpty bool
	var consent input.Consent
	cmd := onSemaphores(&cobra.Command{Use: "delete KEY", Short: "delete a semaphore; its tasks get the event Deleted", Args: cobra.ExactArgs(1),
		Example: "  fiveways semaphore delete crowd --if-empty --yes",
	}, func(s sems, args []string) error {
		if err := consent.Ask(s.cmd, "Delete semaphore '%s' in vhost '%s' with its tasks?", args[0], s.vhost); err != nil {
			return err
		}
		return s.do(http.MethodDelete, 0, s.path(args[0])+"?if-empty="+strconv.FormatBool(ifEmpty), nil, nil)
	})
	cmd.Flags().BoolVar(&ifEmpty, "if-empty", false, "only if it has no tasks")
	return consent.Flag(cmd)
}
