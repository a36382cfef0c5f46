package jobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/cli/display"
	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/worker"

	"github.com/spf13/cobra"
)

func jobEnqueue() *cobra.Command {
	var o worker.EnqueueOptions
	var headers []string
	cmd := &cobra.Command{
		Use: "enqueue QUEUE BODY", Short: "put a job into a queue, which is created if missing", Args: cobra.ExactArgs(2),
		Long: "BODY - reads the body from standard input.",
		Example: `  fiveways job enqueue mail hello
  fiveways job enqueue report - --id monthly --backoff 10m < report.json
  fiveways job enqueue mail hello --id welcome-1 --update     gives a queued job this body`,
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.MID, "id", "", "the job's id; an existing one is rejected, except with --update or --requeue (default: a random one)")
	f.DurationVar(&o.Backoff, "backoff", 0, "not ready before this has passed")
	f.DurationVar(&o.Lock, "lock", 0, "how long a worker may have it (default: the worker's)")
	f.BoolVar(&o.Update, "update", false, "if a job with this id is queued, replace its body")
	f.BoolVar(&o.Requeue, "requeue", false, "if a job with this id is locked or remembered, wait until its id is free")
	f.BoolVar(&o.ResetDelay, "reset-backoff", false, "if a job with this id is queued, set its backoff")
	f.IntVar(&o.Priority, "priority", 0, "0 to 255, for queues that have priorities")
	f.DurationVar(&o.Expire, "expire", 0, "remove the job if it is not taken within this time")
	f.StringArrayVar(&headers, "header", nil, "NAME=VALUE for the worker that takes the job; may be repeated")
	stdin := func() io.Reader { return cmd.InOrStdin() }
	return onJobs(cmd, func(ctx context.Context, j jobs, args []string) error {
		if o.Priority < 0 || o.Priority > 255 {
			return fmt.Errorf("%w: --priority is %d; it must be from 0 to 255", exitcode.ErrUsage, o.Priority)
		}
		if err := spans(span{"backoff", o.Backoff}, span{"lock", o.Lock}, span{"expire", o.Expire}); err != nil {
			return err
		}
		body := []byte(args[1])
		if args[1] == "-" {
			var err error
			if body, err = io.ReadAll(stdin()); err != nil {
				return err
			}
		}
		for _, h := range headers {
			name, value, ok := strings.Cut(h, "=")
			if !ok {
				return fmt.Errorf("%w: --header %q is not NAME=VALUE", exitcode.ErrUsage, h)
			}
			if o.Headers == nil {
				o.Headers = map[string]string{}
			}
			o.Headers[name] = value
		}
		e, err := j.Enqueue(ctx, args[0], body, o)
		if err != nil {
			return err
		}
		reply := struct {
			Action worker.Action `json:"action"`
			MID    string        `json:"mid"`
		}{e.Action, e.MID}
		return j.print(reply, func() error { return j.line("%s %s", e.Action, e.MID) })
	})
}

func jobTake() *cobra.Command {
	var o worker.TakeOptions
	cmd := &cobra.Command{
		Use: "take QUEUE…", Short: "take jobs and lock them", Args: cobra.MinimumNArgs(1),
		Long: "Takes from the first queue with a ready job. Report the job with its TOKEN before the lock expires, or it is queued again.",
		Example: `  fiveways job take mail
  fiveways job take urgent mail --count 10 --lock 5m --wait 30s --json`,
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVar(&o.Count, "count", 1, "maximum number")
	f.DurationVar(&o.Lock, "lock", worker.DefaultLock, "lock time of jobs that have none of their own")
	f.DurationVar(&o.Wait, "wait", 0, "how long to wait for the first job")
	return onJobs(cmd, func(ctx context.Context, j jobs, args []string) error {
		if o.Count < 1 {
			return fmt.Errorf("%w: --count is %d; it must be at least 1", exitcode.ErrUsage, o.Count)
		}
		if err := spans(span{"lock", o.Lock}, span{"wait", o.Wait}); err != nil {
			return err
		}
		o.Queues = args
		taken, left := j.Take(ctx, o)
		if left != nil && !errors.Is(left, worker.ErrUnreadable) {
			return left
		}
		return errors.Join(printTaken(j, taken), left)
	})
}

func printTaken(j jobs, taken []worker.Job) error {
	if len(taken) == 0 && !j.asJSON {
		return j.line("no job is ready")
	}
	if !j.asJSON {
		return display.Table(j.out, "QUEUE\tMID\t>ATTEMPT\tTOKEN\t>LOCK\t>AGE\tBODY", func(row func(...any)) {
			for _, t := range taken {
				row(t.Queue, t.MID, t.Attempt, t.Token, short(t.Lock), ago(t.Enqueued), display.Excerpt(string(t.Body)))
			}
		})
	}
	for _, t := range taken {
		v := viewOf(t.Queue, t.MID, worker.JobStatus{Attempts: t.Attempt, Enqueued: t.Enqueued, Lock: t.Lock})
		v.Token, v.Headers = t.Token, t.Headers
		if body := string(t.Body); utf8.ValidString(body) {
			v.Body = &body
		} else {
			v.Bytes = t.Body
		}
		if err := j.print(v, nil); err != nil {
			return err
		}
	}
	return nil
}

// span is a duration given by a flag.
type span struct {
	flag string
	d    time.Duration
}

// spans returns an error if a span is negative.
func spans(all ...span) error {
	for _, s := range all {
		if s.d < 0 {
			return fmt.Errorf("%w: --%s is %s; it must not be below 0", exitcode.ErrUsage, s.flag, s.d)
		}
	}
	return nil
}

// jobReport returns a command with the arguments QUEUE MID TOKEN.
func jobReport(use, short, long string, report func(ctx context.Context, j jobs, l worker.Lease) error) *cobra.Command {
	cmd := &cobra.Command{Use: use + " QUEUE MID TOKEN", Short: short, Long: long + "\n`fiveways job take` prints the TOKEN.", Args: cobra.ExactArgs(3),
		Example: "  fiveways job " + use + " mail welcome-1 1-851042763644"}
	return onJobs(cmd, func(ctx context.Context, j jobs, args []string) error {
		return report(ctx, j, worker.Lease{Queue: args[0], MID: args[1], Token: args[2]})
	})
}

func jobDone() *cobra.Command {
	var remember time.Duration
	cmd := jobReport("done", "report that a job that was taken succeeded", "The job is gone. With --backoff its id is remembered, and rejected, for that time.", func(ctx context.Context, j jobs, l worker.Lease) error {
		if err := spans(span{"backoff", remember}); err != nil {
			return err
		}
		return j.Done(ctx, l, remember)
	})
	cmd.Flags().DurationVar(&remember, "backoff", 0, "remember the id for that long: enqueuing it again is rejected")
	return cmd
}

func jobRetry() *cobra.Command {
	var after time.Duration
	var text string
	cmd := jobReport("retry", "return a taken job to its queue, to be tried again", "Its next take counts one more attempt.", func(ctx context.Context, j jobs, l worker.Lease) error {
		if err := spans(span{"backoff", after}); err != nil {
			return err
		}
		return j.Retry(ctx, l, after, text)
	})
	cmd.Flags().DurationVar(&after, "backoff", 0, "not before this time has passed")
	cmd.Flags().StringVar(&text, "error", "", "reason, shown until the job is done")
	return cmd
}

func jobFail() *cobra.Command {
	var text string
	cmd := jobReport("fail", "give up a taken job", "It goes to the dead-letter exchange of its queue, if there is one.",
		func(ctx context.Context, j jobs, l worker.Lease) error { return j.Fail(ctx, l, text) })
	cmd.Flags().StringVar(&text, "error", "", "reason, stored in the dead letter")
	return cmd
}

func jobExtend() *cobra.Command {
	var lock time.Duration
	cmd := jobReport("extend", "lock a job that was taken for longer", "For jobs that take longer than their lock; the token stays.", func(ctx context.Context, j jobs, l worker.Lease) error {
		if lock <= 0 {
			return fmt.Errorf("%w: --lock is %s; it must be more than 0", exitcode.ErrUsage, lock)
		}
		return j.Extend(ctx, l, lock)
	})
	cmd.Flags().DurationVar(&lock, "lock", worker.DefaultLock, "from now on")
	return cmd
}
