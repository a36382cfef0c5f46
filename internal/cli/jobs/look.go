package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fiveways.dev/fiveways/internal/cli/display"
	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/internal/cli/input"
	"fiveways.dev/fiveways/worker"

	"github.com/spf13/cobra"
)

var errNoJob = errors.New("there is no such job: it was never enqueued, or is done and forgotten")

func jobStatus() *cobra.Command {
	cmd := &cobra.Command{Use: "status QUEUE [MID]", Short: "show the state of a job, or the counts of a queue", Args: cobra.RangeArgs(1, 2),
		Long: "With MID: its state, attempts, age, and the rest of its backoff and of its lock. Without: counts of the queue.",
		Example: `  fiveways job status mail
  fiveways job status mail welcome-1 --json`,
	}
	return onJobsWatched(cmd, func(ctx context.Context, j jobs, args []string) error {
		if len(args) == 1 {
			return j.counts(ctx, args)
		}
		s, err := j.Status(ctx, args[0], args[1])
		if err != nil {
			return err
		}
		if s.State == worker.None {
			return errNoJob
		}
		return j.print(viewOf(args[0], args[1], s), func() error { return j.entries([]worker.Entry{{MID: args[1], JobStatus: s}}) })
	})
}

// queueView is the JSON form of a queue.
type queueView struct {
	Queue   string `json:"queue"`
	Queued  int    `json:"queued"`
	Locked  int    `json:"locked"`
	Backoff int    `json:"backoff"`
	Total   int    `json:"total"`
}

// counts prints a line for each queue.
func (j jobs) counts(ctx context.Context, queues []string) error {
	var views []queueView
	for _, queue := range queues {
		s, err := j.QueueStatus(ctx, queue)
		if err != nil {
			return err
		}
		views = append(views, queueView{queue, s.Queued, s.Locked, s.Backoff, s.Total})
	}
	if len(views) == 0 && !j.asJSON {
		return j.line("no queue has jobs")
	}
	if !j.asJSON {
		count := func(n int) string { return display.Count(strconv.Itoa(n)) }
		return display.Table(j.out, "QUEUE\t>QUEUED\t>LOCKED\t>BACKOFF\t>TOTAL", func(row func(...any)) {
			for _, v := range views {
				row(v.Queue, count(v.Queued), count(v.Locked), count(v.Backoff), count(v.Total))
			}
		})
	}
	for _, v := range views {
		if err := j.print(v, nil); err != nil {
			return err
		}
	}
	return nil
}

func (j jobs) entries(all []worker.Entry) error {
	if len(all) == 0 {
		return j.line("no jobs")
	}
	return display.Table(j.out, "MID\tSTATE\t>ATTEMPTS\t>AGE\t>BACKOFF\t>LOCK\t>PRIORITY\tLAST ERROR", func(row func(...any)) {
		for _, e := range all {
			row(e.MID, e.State, e.Attempts, ago(e.Enqueued), short(e.Backoff), short(e.Lock), e.Priority, firstLine(e.Error))
		}
	})
}

// firstLine returns the first line of a text, shortened to fit into a table.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	if runes := []rune(line); len(runes) > 60 {
		line = string(runes[:59]) + "…"
	}
	return line
}

// listPage is the number of jobs per request.
const listPage = 500

func jobList() *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use: "list [QUEUE]", Short: "list the queues that have jobs, or the jobs of one", Args: cobra.MaximumNArgs(1),
		Long: "This changes nothing: no job is taken or locked.",
		Example: `  fiveways job list
  fiveways job list mail --limit 1000 --json`,
	}
	cmd.Flags().IntVar(&limit, "limit", 50, "maximum number of jobs")
	return onJobsWatched(cmd, func(ctx context.Context, j jobs, args []string) error {
		if limit < 1 {
			return fmt.Errorf("%w: --limit is %d; it must be at least 1", exitcode.ErrUsage, limit)
		}
		if len(args) == 0 {
			names, err := j.Names(ctx)
			if err != nil {
				return err
			}
			slices.Sort(names)
			return j.counts(ctx, names)
		}
		all, more, err := j.some(ctx, args[0], limit)
		if err != nil {
			return err
		}
		if !j.asJSON {
			if err := j.entries(all); err != nil || !more {
				return err
			}
			return j.line("and more: see --limit")
		}
		for _, e := range all {
			if err := j.print(viewOf(args[0], e.MID, e.JobStatus), nil); err != nil {
				return err
			}
		}
		return nil
	})
}

// some returns up to limit jobs without duplicates, and reports whether there are more.
func (j jobs) some(ctx context.Context, queue string, limit int) (all []worker.Entry, more bool, err error) {
	seen := map[string]bool{}
	for cursor := ""; ; {
		entries, next, err := j.Content(ctx, queue, cursor, min(limit+1-len(all), listPage))
		if err != nil {
			return nil, false, err
		}
		for _, e := range entries {
			if !seen[e.MID] {
				seen[e.MID] = true
				all = append(all, e)
			}
		}
		if len(all) > limit {
			return all[:limit], true, nil
		}
		if cursor = next; next == "" {
			return all, false, nil
		}
	}
}

// canceller removes queued jobs.
type canceller interface {
	Cancel(ctx context.Context, queue, mid string) (bool, error)
}

func jobCancel() *cobra.Command {
	cmd := &cobra.Command{Use: "cancel QUEUE MID", Short: "remove a job that is queued", Args: cobra.ExactArgs(2),
		Long:    "A job that a worker has stays: report it with done or fail.",
		Example: "  fiveways job cancel mail welcome-1",
	}
	return onJobs(cmd, func(ctx context.Context, j jobs, args []string) error {
		c, ok := j.Jobs.(canceller)
		if !ok {
			return errors.New("a job of Carmine cannot be canceled: take it and report it done, or clear the queue")
		}
		was, err := c.Cancel(ctx, args[0], args[1])
		if err == nil && !was {
			err = errNoJob
		}
		return err
	})
}

func jobClear() *cobra.Command {
	var consent input.Consent
	cmd := &cobra.Command{Use: "clear QUEUE…", Short: "remove all jobs of queues, and forget all ids", Args: cobra.MinimumNArgs(1),
		Long:    "Even jobs that workers have: their reports are rejected.",
		Example: "  fiveways job clear mail --yes",
	}
	return consent.Flag(onJobs(cmd, func(ctx context.Context, j jobs, args []string) error {
		if err := consent.Ask(cmd, "Remove all jobs of %s, even those that workers have, and forget all ids?", strings.Join(args, ", ")); err != nil {
			return err
		}
		return j.Clear(ctx, args...)
	}))
}
