package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"fiveways.dev/fiveways/internal/cli/brokeraddr"
	"fiveways.dev/fiveways/internal/cli/display"
	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/worker"
	"fiveways.dev/fiveways/worker/carmine"

	"github.com/spf13/cobra"
)

// Verdicts are the exit codes of errors about jobs, each with a hint.
var Verdicts = []exitcode.Verdict{
	{Err: worker.ErrInvalid, Code: exitcode.WrongUsage, Hint: "A URL looks like redis://user:password@host:6380/vhost, or carmine://host:6379 for queues of Carmine."},
	{Err: worker.ErrAlreadyQueued, Code: exitcode.Failure, Hint: "Choose another --id, or let it replace the body of that one with --update."},
	{Err: worker.ErrLocked, Code: exitcode.Failure, Hint: "A worker has it. To run it again after that, enqueue it with --requeue."},
	{Err: worker.ErrBackoff, Code: exitcode.Failure, Hint: "It was done a short time ago. To run it again after its backoff, enqueue it with --requeue."},
	{Err: worker.ErrStale, Code: exitcode.Failure, Hint: "The lock has expired or the job was reported already; `fiveways job status QUEUE MID` shows its state. Nothing was changed."},
	{Err: worker.ErrUnreadable, Code: exitcode.Failure, Hint: "A Clojure program can read it. `fiveways migrate carmine --frozen` moves it as it is."},
	{Err: worker.ErrNoRoom, Code: exitcode.Failure, Hint: "Taking jobs still works, and finished jobs free space. The broker's log says what is short: memory_limit, the disk, or x-max-length of the queue."},
}

// Command returns `fiveways job`.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "job",
		Short: "enqueue, take, report and inspect jobs",
		Long: `Works with the job queues of a running broker, over the Redis protocol. With a URL that begins with carmine:// instead of redis://
it works with the queues of Carmine, a Clojure library, on a real Redis.`,
		Example: `  fiveways job enqueue mail '{"to":"me"}' --id welcome-1
  fiveways job list                        the queues
  fiveways job list mail                   the jobs of one
  fiveways job take mail --lock 5m         shows the token for the report
  fiveways job done mail welcome-1 TOKEN   the report; also retry, fail, extend
  fiveways job status mail welcome-1 --json
  fiveways job list --url carmine://localhost:6379`,
	}
	cmd.AddCommand(jobEnqueue(), jobTake(), jobDone(), jobRetry(), jobFail(), jobExtend(), jobStatus(), jobList(), jobCancel(), jobClear())
	return cmd
}

// jobs is the broker of a command, and the form of its output.
type jobs struct {
	worker.Jobs
	out    io.Writer
	asJSON bool
}

// onJobs adds the flags that name the broker to cmd, and makes run its action.
func onJobs(cmd *cobra.Command, run func(ctx context.Context, j jobs, args []string) error) *cobra.Command {
	address := cmd.Flags().String("url", "", "redis://user:password@host:port/vhost of the broker, or carmine://… (default: the broker on the data folder, else the one in the configuration, 127.0.0.1:6380)")
	var b brokeraddr.Flags
	b.Add(cmd)
	asJSON := display.LineFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if *address == "" {
			*address, err = b.RedisURL(cmd.Context())
		} else {
			err = b.UnlessURL("--url")
		}
		if err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		j, err := dialJobs(*address)
		if err != nil {
			return err
		}
		if err = errors.Join(run(ctx, jobs{j, cmd.OutOrStdout(), asJSON()}, args), j.Close()); err != nil {
			return brokeraddr.OverRedis(err)
		}
		return nil
	}
	return cmd
}

// onJobsWatched is onJobs for a command that shows a state, which --watch repeats.
func onJobsWatched(cmd *cobra.Command, run func(ctx context.Context, j jobs, args []string) error) *cobra.Command {
	watch := display.WatchFlag(cmd)
	return onJobs(cmd, func(ctx context.Context, j jobs, args []string) error {
		return watch(cmd, func() error {
			j.out = cmd.OutOrStdout()
			return run(ctx, j, args)
		})
	})
}

func dialJobs(address string) (worker.Jobs, error) {
	if rest, ok := strings.CutPrefix(address, "carmine://"); ok {
		j, err := carmine.Dial("redis://"+rest, carmine.Options{})
		if err != nil {
			return nil, fmt.Errorf("%w: %w", exitcode.ErrUsage, err)
		}
		return j, nil
	}
	return worker.Dial(address)
}

// print prints a value as JSON, or as text.
func (j jobs) print(v any, text func() error) error {
	if j.asJSON {
		return json.NewEncoder(j.out).Encode(v)
	}
	return text()
}

func (j jobs) line(format string, args ...any) error {
	_, err := fmt.Fprintf(j.out, format+"\n", args...)
	return err
}

// jobView is the JSON form of a job. Times are in milliseconds.
type jobView struct {
	Queue    string            `json:"queue"`
	MID      string            `json:"mid"`
	State    worker.State      `json:"state,omitempty"`
	Attempts int               `json:"attempts"`
	Enqueued int64             `json:"enqueued_ms,omitempty"` // Unix time
	Backoff  int64             `json:"backoff_ms,omitempty"`  // remaining
	Lock     int64             `json:"lock_ms,omitempty"`     // remaining
	Priority int               `json:"priority,omitempty"`
	Error    string            `json:"error,omitempty"`
	Token    string            `json:"token,omitempty"`
	Body     *string           `json:"body,omitempty"`
	Bytes    []byte            `json:"body_base64,omitempty"` // instead of Body if it is not UTF-8
	Headers  map[string]string `json:"headers,omitempty"`
}

func viewOf(queue, mid string, s worker.JobStatus) jobView {
	v := jobView{Queue: queue, MID: mid, State: s.State, Attempts: s.Attempts, Backoff: s.Backoff.Milliseconds(), Lock: s.Lock.Milliseconds(),
		Priority: s.Priority, Error: s.Error}
	if !s.Enqueued.IsZero() {
		v.Enqueued = s.Enqueued.UnixMilli()
	}
	return v
}

// ago formats how long ago t was, or returns "" if t is unknown.
func ago(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return short(time.Since(t))
}

// short formats a duration, or returns "" if it is zero.
func short(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return display.Duration(d)
}
