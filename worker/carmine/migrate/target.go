package migrate

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"fiveways.dev/fiveways/worker"
	"fiveways.dev/fiveways/worker/carmine"
)

// Target is the broker queue to which jobs are moved.
type Target struct {
	client *redis.Client
	queue  string
}

// callTimeout is how long the broker may take to answer. It answers when everything is on disk.
const callTimeout = time.Minute

// Dial returns the target for a queue of the broker at redis://user:password@host:port/vhost.
func Dial(address, queue string) (*Target, error) {
	o, err := worker.ClientOptions(address)
	if err != nil {
		return nil, err
	}
	o.ReadTimeout = callTimeout
	return &Target{client: redis.NewClient(o), queue: queue}, nil
}

// Close closes the connection.
func (t *Target) Close() error { return t.client.Close() }

// outcome is the result for one record.
type outcome struct {
	there  bool  // the broker already had the id
	failed error // the broker does not have it
}

// put moves records in one pipeline. If it returns an error, nothing is known about any record.
// With update the broker replaces the content of jobs that it already has.
func (t *Target) put(ctx context.Context, records []carmine.Record, update bool) ([]outcome, error) {
	pipe := t.client.Pipeline()
	all := make([][]*redis.Cmd, len(records))
	outcomes := make([]outcome, len(records))
	for i := range records {
		if outcomes[i].failed = records[i].Unreadable; outcomes[i].failed != nil {
			continue
		}
		for _, args := range commands(t.queue, &records[i], update) {
			all[i] = append(all[i], pipe.Do(ctx, args...))
		}
	}
	var whole error
	if pipe.Len() > 0 {
		if _, whole = pipe.Exec(ctx); whole != nil && !isReply(whole) {
			return nil, fmt.Errorf("migrate: the broker: %w", whole)
		}
	}
	for i := range records {
		for _, cmd := range all[i] {
			switch err := cmd.Err(); {
			case err == nil && cmd.Val() == nil: // not sent, as after a refused login
				return nil, fmt.Errorf("migrate: the broker did not answer: %w", whole)
			case err == nil:
			case hopeless(err):
				return nil, fmt.Errorf("migrate: the broker: %w", err)
			case redis.HasErrorPrefix(err, "ALREADYQUEUED"), redis.HasErrorPrefix(err, "LOCKED"), redis.HasErrorPrefix(err, "BACKOFF"):
				outcomes[i].there = true
			case isReply(err):
				if outcomes[i].failed == nil {
					outcomes[i].failed = fmt.Errorf("migrate: %q: %w", records[i].MID, err)
				}
			default:
				return nil, fmt.Errorf("migrate: the broker: %w", err)
			}
		}
	}
	return outcomes, nil
}

func isReply(err error) bool {
	_, ok := err.(redis.Error) //nolint:errorlint // go-redis returns replies unwrapped
	return ok
}

// hopeless reports whether the error means that every command would fail.
func hopeless(err error) bool {
	for _, prefix := range []string{"unknown command", "NOAUTH", "WRONGPASS", "NOPERM", "OOM", "LOADING"} {
		if redis.HasErrorPrefix(err, prefix) {
			return true
		}
	}
	return false
}

// shortLock is the minimum lock of a job with a second version behind it: the second version can
// only be enqueued behind a locked job.
const shortLock = time.Second

// commands returns the commands that recreate a record in the broker's queue, or none if there is
// nothing to move.
func commands(queue string, r *carmine.Record, update bool) (all [][]any) {
	enqueue := func(v carmine.Version, options ...any) {
		args := append([]any{"JOB.ENQUEUE", queue, v.Body, "ID", r.MID}, options...)
		if v.OwnLock > 0 {
			args = append(args, "LOCK", v.OwnLock.Milliseconds())
		}
		if v.ContentType != carmine.Text {
			args = append(args, "HEADERS", carmine.ContentTypeHeader, v.ContentType)
		}
		all = append(all, args)
	}
	known := []any{"ATTEMPTS", r.Attempts}
	if !r.Enqueued.IsZero() {
		known = append(known, "FIRST", r.Enqueued.UnixMilli())
	}
	first := append([]any{}, known...)
	if update {
		first = append(first, "UPDATE")
	}
	switch r.State {
	case worker.Queued, worker.QueuedWithBackoff:
		if r.Behind != nil {
			enqueue(r.Version, append(first, "LOCKED", max(r.Backoff, shortLock).Milliseconds())...)
		} else if r.Backoff > 0 {
			enqueue(r.Version, append(first, "BACKOFF", r.Backoff.Milliseconds())...)
		} else {
			enqueue(r.Version, first...)
		}
	case worker.Locked, worker.LockedWithRequeue:
		enqueue(r.Version, append(first, "LOCKED", max(r.Lock.Milliseconds(), 1))...)
	case worker.DoneWithBackoff, worker.DoneWithRequeue:
		if r.Backoff <= 0 { // its second version counts as queued
			enqueue(*r.Behind)
			return all
		}
		all = append(all, append([]any{"JOB.REMEMBER", queue, r.MID, r.Backoff.Milliseconds()}, known...))
	}
	if r.Behind != nil {
		enqueue(*r.Behind, "REQUEUE", "UPDATE")
	}
	return all
}
