package carmine

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"fiveways.dev/fiveways/worker"
)

// Enqueue implements worker.Jobs. Carmine has no priorities, no expiry and no headers. Of the
// headers only the content type may be set.
func (j *Jobs) Enqueue(ctx context.Context, queue string, body []byte, o worker.EnqueueOptions) (worker.Enqueued, error) {
	results, err := j.EnqueueAll(ctx, []worker.EnqueueRequest{{Queue: queue, Body: body, EnqueueOptions: o}})
	if err != nil {
		return worker.Enqueued{}, err
	}
	return results[0].Enqueued, results[0].Err
}

// EnqueueAll implements worker.Jobs. Each job is enqueued atomically. All of them are sent in one
// pipeline.
func (j *Jobs) EnqueueAll(ctx context.Context, requests []worker.EnqueueRequest) ([]worker.EnqueueResult, error) {
	if err := errors.Join(j.open(), ctx.Err()); err != nil {
		return nil, err
	}
	results, kept := make([]worker.EnqueueResult, len(requests)), make([][]byte, len(requests))
	var which []int // indexes of the requests that are sent
	for i, r := range requests {
		if results[i].MID = r.MID; r.MID == "" {
			results[i].MID = randomID()
		}
		if results[i].Err = refuse(r.EnqueueOptions, results[i].MID); results[i].Err == nil {
			kept[i], results[i].Err = j.codec.Encode(r.Body, r.Headers[ContentTypeHeader])
		}
		if results[i].Err == nil {
			which = append(which, i)
		}
	}
	send := func(p redis.Pipeliner, i int) *redis.Cmd {
		r := &requests[i]
		return enqueueScript.EvalSha(ctx, p, keys(r.Queue), j.oldest, results[i].MID, kept[i], millis(r.Lock), millis(r.Backoff),
			flag(r.Update), flag(r.Requeue), flag(r.ResetDelay))
	}
	replies, err := j.pipeline(ctx, which, send)
	if err != nil {
		return nil, fmt.Errorf("carmine: enqueue: %w", err)
	}
	for n, i := range which {
		if err := outcome(replies[n], &results[i]); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// pipeline sends the calls of a script in one pipeline, and repeats those that failed because the
// script was not loaded.
func (j *Jobs) pipeline(ctx context.Context, which []int, send func(p redis.Pipeliner, i int) *redis.Cmd) ([]*redis.Cmd, error) {
	ctx = context.WithoutCancel(ctx)
	replies := make([]*redis.Cmd, len(which))
	for range 2 {
		p, missing := j.client.Pipeline(), 0
		for n, i := range which {
			if replies[n] == nil || redis.HasErrorPrefix(replies[n].Err(), "NOSCRIPT") {
				replies[n] = send(p, i)
				missing++
			}
		}
		if missing == 0 {
			break
		}
		if _, err := p.Exec(ctx); err == nil || !redis.HasErrorPrefix(err, "NOSCRIPT") {
			return replies, err
		}
		if err := enqueueScript.Load(ctx, j.client).Err(); err != nil {
			return nil, err
		}
	}
	return replies, nil
}

// refuse returns an error for options that Carmine does not support.
func refuse(o worker.EnqueueOptions, mid string) error {
	switch {
	case mid == marker || len(mid) > maxMID:
		return errMID
	case o.Priority != 0:
		return fmt.Errorf("carmine: no priorities: %w", errors.ErrUnsupported)
	case o.Expire != 0:
		return fmt.Errorf("carmine: no expiry: %w", errors.ErrUnsupported)
	}
	for name := range o.Headers {
		if name != ContentTypeHeader {
			return fmt.Errorf("carmine: no header but %s: %w", ContentTypeHeader, errors.ErrUnsupported)
		}
	}
	return nil
}

// outcome decodes one reply. The returned error concerns the whole pipeline.
func outcome(reply *redis.Cmd, r *worker.EnqueueResult) error {
	text, err := reply.Text()
	if err != nil {
		return fmt.Errorf("carmine: enqueue %s: %w", r.MID, err)
	}
	switch text {
	case "added":
		r.Action = worker.Added
	case "updated":
		r.Action = worker.Updated
	case "already-queued":
		r.Err = fmt.Errorf("carmine: %s: %w", r.MID, worker.ErrAlreadyQueued)
	case "locked":
		r.Err = fmt.Errorf("carmine: %s: %w", r.MID, worker.ErrLocked)
	case "backoff":
		r.Err = fmt.Errorf("carmine: %s: %w", r.MID, worker.ErrBackoff)
	default:
		return fmt.Errorf("carmine: enqueue %s: unexpected reply %q", r.MID, text)
	}
	return nil
}
