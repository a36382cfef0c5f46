package cli

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

	"fiveways/internal/config"
	"fiveways/worker"
	"fiveways/worker/carmine"

	"github.com/spf13/cobra"
)

func jobCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "job",
		Short: "enqueue jobs, take them, report on them and look at them",
		Long: `Works with the queues of jobs of a broker that runs, over the Redis protocol. With a URL that begins with carmine:// instead of redis://
it works with those that Carmine, a library of Clojure, keeps on a real Redis.`,
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

// jobs is the broker that a command works with, and how it prints.
type jobs struct {
	worker.Jobs
	out    io.Writer
	asJSON bool
}

// errNoRedis tells that no broker is named.
var errNoRedis = errors.New("the broker does not serve the Redis protocol, so there is no address to go to")

// onJobs adds to cmd what names the broker, and makes run its action.
func onJobs(cmd *cobra.Command, run func(ctx context.Context, j jobs, args []string) error) *cobra.Command {
	address := cmd.Flags().String("url", "", "redis://user:password@host:port/vhost of the broker, or carmine://… (default: the broker on the data folder, else as the configuration says, 127.0.0.1:6380)")
	data := cmd.Flags().String("data", "", "data folder of the broker (default: as the configuration says)")
	file := cmd.Flags().String("config", "", "TOML file with settings (or "+config.EnvFile+")")
	asJSON := cmd.Flags().Bool("json", false, "print JSON, one value a line")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *address != "" && *data != "" {
			return usage("--url and --data name two brokers")
		}
		if *address == "" {
			var err error
			if *address, err = configuredRedis(cmd.Context(), *file, *data); err != nil {
				return err
			}
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		j, err := dialJobs(*address)
		if err != nil {
			return err
		}
		if err = errors.Join(run(ctx, jobs{j, cmd.OutOrStdout(), *asJSON}, args), j.Close()); err != nil {
			return overRedis{err}
		}
		return nil
	}
	return cmd
}

// configuredRedis is the URL of the broker that the configuration and --data describe.
func configuredRedis(ctx context.Context, file, data string) (string, error) {
	address, err := addressOf(ctx, "redis", file, data)
	if err != nil {
		return "", err
	}
	if address == "" {
		return "", errNoRedis
	}
	return "redis://" + address, nil
}

func dialJobs(address string) (worker.Jobs, error) {
	if rest, ok := strings.CutPrefix(address, "carmine://"); ok {
		j, err := carmine.Dial("redis://"+rest, carmine.Options{})
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errUsage, err)
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

// jobView is a job as programs read it: times in milliseconds.
type jobView struct {
	Queue    string            `json:"queue"`
	MID      string            `json:"mid"`
	State    worker.State      `json:"state,omitempty"`
	Attempts int               `json:"attempts"`
	Enqueued int64             `json:"enqueued_ms,omitempty"` // unix time
	Backoff  int64             `json:"backoff_ms,omitempty"`  // left
	Lock     int64             `json:"lock_ms,omitempty"`     // left
	Priority int               `json:"priority,omitempty"`
	Token    string            `json:"token,omitempty"`
	Body     *string           `json:"body,omitempty"`
	Bytes    []byte            `json:"body_base64,omitempty"` // instead of Body, when it is not UTF-8
	Headers  map[string]string `json:"headers,omitempty"`
}

func viewOf(queue, mid string, s worker.JobStatus) jobView {
	v := jobView{Queue: queue, MID: mid, State: s.State, Attempts: s.Attempts, Backoff: s.Backoff.Milliseconds(), Lock: s.Lock.Milliseconds(),
		Priority: s.Priority}
	if !s.Enqueued.IsZero() {
		v.Enqueued = s.Enqueued.UnixMilli()
	}
	return v
}

// ago shows how long ago something was; "" when it is not known.
func ago(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return short(time.Since(t))
}

// short shows a time without parts that say little; "" for none.
func short(d time.Duration) string {
	switch {
	case d <= 0:
		return ""
	case d < 10*time.Second:
		return d.Round(time.Millisecond).String()
	case d < 48*time.Hour:
		return d.Round(time.Second).String()
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
