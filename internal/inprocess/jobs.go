package inprocess

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/jobs"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/worker"
)

// Jobs implements worker.Jobs.
type Jobs struct{ *sessions }

// New returns the job queues of a virtual host.
func New(b *broker.Broker, vhost string) *Jobs { return &Jobs{newSessions(b, vhost, worker.ErrClosed)} }

// do executes commands. The result of each is in its OnQueue.
func (j *Jobs) do(ctx context.Context, commands ...broker.Command) error {
	s, err := j.get(ctx)
	if err != nil {
		return err
	}
	defer j.put(s)
	return meaning(s.Do(commands...))
}

// refusals maps the engine's errors to those of package worker.
var refusals = []struct{ engine, means error }{
	{failure.ErrAlreadyQueued, worker.ErrAlreadyQueued},
	{failure.ErrLocked, worker.ErrLocked},
	{failure.ErrBackoff, worker.ErrBackoff},
	{failure.ErrStale, worker.ErrStale},
	{failure.ErrRejected, worker.ErrNoRoom},
	{failure.ErrClosed, worker.ErrClosed},
}

func meaning(err error) error {
	for _, r := range refusals {
		if errors.Is(err, r.engine) {
			return fmt.Errorf("%w (%w)", r.means, err)
		}
	}
	return err
}

// missing reports whether a queue does not exist, which is equivalent to an empty one.
func missing(err error) bool { return errors.Is(err, failure.ErrQueueNotFound) }

// room returns an error while there is an alarm, as the protocols do.
func (j *Jobs) room() error { return j.alarm(worker.ErrNoRoom) }

// Enqueue implements worker.Jobs.
func (j *Jobs) Enqueue(ctx context.Context, queue string, body []byte, o worker.EnqueueOptions) (worker.Enqueued, error) {
	if err := j.room(); err != nil {
		return worker.Enqueued{}, err
	}
	c := enqueue(queue, body, o)
	if err := j.do(ctx, c); err != nil {
		return worker.Enqueued{}, err
	}
	return enqueued(c)
}

// EnqueueAll implements worker.Jobs.
func (j *Jobs) EnqueueAll(ctx context.Context, requests []worker.EnqueueRequest) ([]worker.EnqueueResult, error) {
	if err := j.room(); err != nil {
		return nil, err
	}
	commands := make([]broker.Command, len(requests))
	for i, r := range requests {
		commands[i] = enqueue(r.Queue, r.Body, r.EnqueueOptions)
	}
	if err := j.do(ctx, commands...); err != nil {
		return nil, err
	}
	results := make([]worker.EnqueueResult, len(requests))
	for i, c := range commands {
		results[i].Enqueued, results[i].Err = enqueued(c.(*jobs.Enqueue))
	}
	return results, nil
}

func enqueue(queue string, body []byte, o worker.EnqueueOptions) *jobs.Enqueue {
	c := &jobs.Enqueue{
		OnQueue: broker.OnQueue{Queue: queue}, ID: []byte(o.MID), Body: body,
		Backoff: ms(o.Backoff), Lock: ms(o.Lock), TTL: ms(o.Expire), Priority: uint8(min(max(o.Priority, 0), 255)),
		Update: o.Update, Requeue: o.Requeue, ResetBackoff: o.ResetDelay,
	}
	for k, v := range o.Headers {
		c.Headers = append(c.Headers, message.Field{Name: k, Value: v})
	}
	return c
}

func enqueued(c *jobs.Enqueue) (worker.Enqueued, error) {
	if c.Err != nil {
		return worker.Enqueued{}, meaning(c.Err)
	}
	e := worker.Enqueued{Action: worker.Added, MID: string(c.ID)}
	if c.Updated {
		e.Action = worker.Updated
	}
	return e, nil
}

// ms returns a duration in milliseconds. A positive duration below a millisecond is rounded up to
// one.
func ms(d time.Duration) int64 {
	if d > 0 && d < time.Millisecond {
		return 1
	}
	return d.Milliseconds()
}
