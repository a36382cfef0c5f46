package worker

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

var errReply = errors.New("worker: an answer that is not understood")

// refusals are the errors of the interface as the broker words them: the first word of its reply.
var refusals = map[string]error{
	"ALREADYQUEUED": ErrAlreadyQueued, "LOCKED": ErrLocked, "BACKOFF": ErrBackoff, "STALE": ErrStale,
	"OOM": ErrNoRoom, "MISCONF": ErrNoRoom,
}

// isFull tells that a queue took nothing because of its limits: that has no word of its own.
func isFull(reply string) bool {
	return strings.HasPrefix(reply, "ERR queue ") && strings.HasSuffix(reply, " is full")
}

// isReply says that an error is what the broker answered, not that it could not be asked.
func isReply(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply)
}

func isNil(err error) bool { return errors.Is(err, redis.Nil) }

// failed gives an error its meaning.
func (c *Client) failed(err error) error {
	if isNil(err) {
		return err
	}
	if isReply(err) {
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
	return fmt.Errorf("worker: the broker cannot be asked: %w", err)
}

func enqueued(cmd *redis.Cmd) (Enqueued, error) {
	words, err := cmd.StringSlice()
	if err != nil || len(words) != 2 {
		return Enqueued{}, fmt.Errorf("%w to JOB.ENQUEUE: %v", errReply, cmd.Val())
	}
	return Enqueued{Action(words[0]), words[1]}, nil
}

// fields is a map of RESP3, or the flat array that stands for one in RESP2.
type fields map[string]any

func fieldsOf(v any) fields {
	f := fields{}
	switch v := v.(type) {
	case map[any]any:
		for k, value := range v {
			f[text(k)] = value
		}
	case []any:
		for i := 0; i+1 < len(v); i += 2 {
			f[text(v[i])] = v[i+1]
		}
	}
	return f
}

func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	return fmt.Sprint(v)
}

func (f fields) text(name string) string { return text(f[name]) }

// number is 0 for what is not there.
func (f fields) number(name string) int64 {
	switch v := f[name].(type) {
	case int64:
		return v
	case string:
		n, _ := strconv.ParseInt(v, 10, 64)
		return n
	}
	return 0
}

func (f fields) duration(name string) time.Duration {
	return time.Duration(max(f.number(name), 0)) * time.Millisecond
}

// time is zero for one that is not known.
func (f fields) time(name string) time.Time {
	if n := f.number(name); n > 0 {
		return time.UnixMilli(n)
	}
	return time.Time{}
}

func jobStatus(f fields) JobStatus {
	return JobStatus{
		State: State(f.text("status")), Attempts: int(f.number("attempts")), Enqueued: f.time("enqueued"),
		Backoff: f.duration("backoff"), Lock: f.duration("lock"), Priority: int(f.number("priority")),
	}
}

// taken reads the reply of JOB.TAKE.
func taken(v any) []Job {
	list, _ := v.([]any)
	jobs := make([]Job, 0, len(list))
	for _, one := range list {
		f := fieldsOf(one)
		j := Job{
			Lease: Lease{f.text("queue"), f.text("mid"), f.text("token")},
			Body:  []byte(f.text("body")), Attempt: int(f.number("attempt")), Lock: f.duration("lock"), Enqueued: f.time("enqueued"),
		}
		for k, v := range fieldsOf(f["headers"]) {
			if j.Headers == nil {
				j.Headers = map[string]string{}
			}
			j.Headers[k] = text(v)
		}
		jobs = append(jobs, j)
	}
	return jobs
}
