package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"fiveways/internal/protocol/httpapi"
	"fiveways/internal/semaphores/semjson"

	"github.com/spf13/cobra"
)

func semaphoreCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "semaphore",
		Short: "let only the first tasks by priority go on: set semaphores, enqueue and release tasks, follow events",
		Long: `A semaphore lets its first tasks by priority run, as many as --active says; the others wait. Of the running, the last --try-release
may be asked to give way to more urgent ones. The commands work with the broker that runs on the data folder, or with the one at --url, as its user;
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

// sems is the broker whose semaphores a command works with, and how it prints.
type sems struct {
	*operator
	cmd    *cobra.Command
	out    io.Writer
	vhost  string
	asJSON bool
}

// onSemaphores adds to cmd what names the broker and the virtual host, and how to print, and makes run its action.
func onSemaphores(cmd *cobra.Command, run func(s sems, args []string) error) *cobra.Command {
	var vhost, output string
	cmd = onVHost(operate(cmd, func(cmd *cobra.Command, op *operator, args []string) error {
		if output != "table" && output != "json" {
			return fmt.Errorf("%w: -o is table or json, not %q", errUsage, output)
		}
		if !op.running {
			return fmt.Errorf("semaphores are there while the broker runs, and none runs on that folder: %w", errNoBroker)
		}
		return run(sems{op, cmd, cmd.OutOrStdout(), vhost, output == "json"}, args)
	}), &vhost)
	cmd.Flags().StringVarP(&output, "output", "o", "table", "table, or json: one value a line")
	return cmd
}

// do makes a request about semaphores of the virtual host; patience is how long the answer may take beyond that of others.
func (s sems) do(method string, patience time.Duration, at string, in, out any) error {
	return s.doWithin(s.cmd.Context(), operatorPatience+patience, method, at, in, out)
}

func (s sems) path(segments ...string) string {
	return path(append([]string{"semaphores", s.vhost}, segments...)...)
}

func (s sems) line(format string, args ...any) error {
	_, err := fmt.Fprintf(s.out, format+"\n", args...)
	return err
}

// values prints JSON, one value a line.
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
	return table(s.out, "VHOST\tSEMAPHORE\tACTIVE\tTRY RELEASE\tORDER\tLEASE\tWAITING\tACQUIRED\tASKED", func(row func(...any)) {
		for _, v := range all {
			row(v.VHost, v.Key, v.Active, v.TryRelease, v.Order, leaseText(v.Lease), v.Waiting, v.Acquired, v.TryReleaseAsked)
		}
	})
}

// leaseText shows a lease in ms; none is "-".
func leaseText(ms int64) string {
	if ms == 0 {
		return "-"
	}
	return (time.Duration(ms) * time.Millisecond).String()
}

func semaphoreList() *cobra.Command {
	var contains string
	var limit int
	cmd := onSemaphores(&cobra.Command{Use: "list", Short: "list semaphores, how many tasks run and how many wait", Args: cobra.NoArgs,
		Example: `  fiveways semaphore list
  fiveways semaphore list --vhost "" --contains crowd   of all virtual hosts`,
	}, func(s sems, _ []string) error {
		var all []semjson.Semaphore
		at := s.path()
		if s.vhost == "" {
			at = path("semaphores")
		}
		for q := (url.Values{"contains": {contains}}); ; {
			q.Set("limit", strconv.Itoa(min(limit-len(all), listPage)))
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
	cmd.Flags().StringVar(&contains, "contains", "", "only those with this in their name")
	cmd.Flags().IntVar(&limit, "limit", 50, "show at most so many")
	cmd.Flags().Lookup("vhost").Usage = `virtual host; "" for all`
	return cmd
}

// some says, behind what was printed, that there are more.
func (s sems) some(err error, more bool) error {
	if err != nil || !more || s.asJSON {
		return err
	}
	return s.line("and more: see --limit")
}

func semaphoreShow() *cobra.Command {
	return onSemaphores(&cobra.Command{Use: "show KEY [TASK ...]", Short: "describe a semaphore, or tell where tasks stand", Args: cobra.MinimumNArgs(1),
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
	cmd := &cobra.Command{Use: "set KEY", Short: "make a semaphore, or change it", Args: cobra.ExactArgs(1),
		Long: "What is not said stays as it is; of a new semaphore it is the default. A change takes effect at once.",
		Example: `  fiveways semaphore set crowd
  fiveways semaphore set crowd --active 500
  fiveways semaphore set deadlines --order asc --lease 10m`,
	}
	cmd.Flags().IntVar(&active, "active", 1000, "how many tasks may run; 0: nobody begins")
	cmd.Flags().IntVar(&tryRelease, "try-release", 900, "how many of the running, from the last, may be asked to give way")
	cmd.Flags().StringVar(&order, "order", semjson.Descending, "desc: the larger number is the more urgent; asc: the smaller")
	cmd.Flags().DurationVar(&lease, "lease", 0, "a running task that is not renewed for so long loses its place; 0: never")
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
	cmd := onSemaphores(&cobra.Command{Use: "delete KEY", Short: "delete a semaphore; its tasks are told by the event Deleted", Args: cobra.ExactArgs(1),
		Example: "  fiveways semaphore delete crowd --if-empty",
	}, func(s sems, args []string) error {
		return s.do(http.MethodDelete, 0, s.path(args[0])+"?if-empty="+strconv.FormatBool(ifEmpty), nil, nil)
	})
	cmd.Flags().BoolVar(&ifEmpty, "if-empty", false, "only if it has no tasks")
	return cmd
}
