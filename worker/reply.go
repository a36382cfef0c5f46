package worker

import (
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"fiveways.dev/fiveways/internal/respclient"
)

var errReply = errors.New("worker: unexpected answer")

// refusals maps the first word of an error reply to the error of the interface.
var refusals = map[string]error{
	"ALREADYQUEUED": ErrAlreadyQueued, "LOCKED": ErrLocked, "BACKOFF": ErrBackoff, "STALE": ErrStale,
	"OOM": ErrNoRoom, "MISCONF": ErrNoRoom,
}

// isFull reports whether a queue refused a job because of its limits. That error has no code of its
// own.
func isFull(reply string) bool {
	return strings.HasPrefix(reply, "ERR queue ") && strings.HasSuffix(reply, " is full")
}

// failed converts an error of a call to one of the interface.
func (c *Client) failed(err error) error {
	if respclient.IsNil(err) {
		return err
	}
	if respclient.IsReply(err) {
		word, rest, _ := strings.Cut(err.Error(), " ")
		known := refusals[word]
		if isFull(err.Error()) {
			known = ErrNoRoom
		}
		if known != nil {
			return fmt.Errorf("%w (%s)", known, rest)
		}
		return fmt.Errorf("worker: the broker: %w", err)
	}
	if c.closed.Err() != nil {
		return ErrClosed
	}
	return fmt.Errorf("worker: cannot reach the broker: %w", err)
}

func enqueued(cmd *redis.Cmd) (Enqueued, error) {
	words, err := cmd.StringSlice()
	if err != nil || len(words) != 2 {
		return Enqueued{}, fmt.Errorf("%w to JOB.ENQUEUE: %v", errReply, cmd.Val())
	}
	return Enqueued{Action(words[0]), words[1]}, nil
}

func jobStatus(f respclient.Fields) JobStatus {
	return JobStatus{
		State: State(f.Text("status")), Attempts: int(f.Number("attempts")), Enqueued: f.Time("enqueued"),
		Backoff: f.Duration("backoff"), Lock: f.Duration("lock"), Priority: int(f.Number("priority")), Error: f.Text("error"),
	}
}

// taken parses the reply of JOB.TAKE.
func taken(v any) []Job {
	list, _ := v.([]any)
	jobs := make([]Job, 0, len(list))
	for _, one := range list {
		f := respclient.FieldsOf(one)
		j := Job{
			Lease: Lease{f.Text("queue"), f.Text("mid"), f.Text("token")},
			Body:  []byte(f.Text("body")), Attempt: int(f.Number("attempt")), Lock: f.Duration("lock"), Enqueued: f.Time("enqueued"),
		}
		for k, v := range respclient.FieldsOf(f["headers"]) {
			if j.Headers == nil {
				j.Headers = map[string]string{}
			}
			j.Headers[k] = respclient.Text(v)
		}
		jobs = append(jobs, j)
	}
	return jobs
}
