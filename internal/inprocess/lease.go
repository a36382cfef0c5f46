package inprocess

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/jobs"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/worker"
)

// Take implements worker.Jobs.
func (j *Jobs) Take(ctx context.Context, o worker.TakeOptions) ([]worker.Job, error) {
	s, err := j.get(ctx)
	if err != nil {
		return nil, err
	}
	defer j.put(s)
	takes := make([]*jobs.Take, len(o.Queues))
	for i, name := range o.Queues {
		takes[i] = &jobs.Take{OnQueue: broker.OnQueue{Queue: name}, Max: o.Count, Lock: ms(o.Lock), Create: o.Wait > 0}
	}
	if o.Wait <= 0 {
		return takeNow(s, takes)
	}
	return j.takeLater(ctx, s, takes, o.Wait)
}

// takeNow tries one queue after the other.
func takeNow(s *broker.Session, takes []*jobs.Take) ([]worker.Job, error) {
	for _, t := range takes {
		if err := s.Do(t); err != nil {
			return nil, meaning(err)
		}
		if t.Err != nil && !missing(t.Err) {
			return nil, meaning(t.Err)
		}
		if t.Err == nil && len(t.Jobs) > 0 {
			return taken(t), nil
		}
	}
	return nil, nil
}

// takeLater waits at all queues at once.
func (j *Jobs) takeLater(ctx context.Context, s *broker.Session, takes []*jobs.Take, wait time.Duration) ([]worker.Job, error) {
	commands := make([]broker.Command, len(takes))
	for i, t := range takes {
		commands[i] = t
	}
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	defer context.AfterFunc(j.closed, cancel)()
	i, err := s.Await(waiting, commands...)
	switch {
	case err != nil:
		return nil, meaning(err)
	case i >= 0 && takes[i].Err != nil:
		return nil, meaning(takes[i].Err)
	case i >= 0:
		return taken(takes[i]), nil
	case j.closed.Err() != nil:
		return nil, worker.ErrClosed
	}
	return nil, ctx.Err()
}

func taken(t *jobs.Take) []worker.Job {
	jobs := make([]worker.Job, len(t.Jobs))
	for i := range t.Jobs {
		from := &t.Jobs[i]
		_, _, _, body := from.Env.Split()
		jobs[i] = worker.Job{
			Lease: worker.Lease{Queue: t.Queue, MID: string(from.ID), Token: from.Token.String()},
			Body:  bytes.Clone(body), Attempt: int(from.Attempt), Lock: span(from.Lock), Enqueued: moment(from.First), Headers: headers(from.Env),
		}
	}
	return jobs
}

// headers returns the headers of a message that have a simple value, as text. It leaves out those
// in which the engine records the state of a job.
func headers(env message.Envelope) map[string]string {
	table, err := jobs.HeadersOf(env)
	if err != nil {
		return nil
	}
	var h map[string]string
	for _, f := range table {
		text := ""
		switch v := f.Value.(type) {
		case nil, message.Table, message.Array:
			continue
		case message.Bytes:
			text = string(v)
		default:
			text = fmt.Sprint(v)
		}
		if f.Name == "x-first-enqueued" || f.Name == "x-lock-ms" {
			continue
		}
		if h == nil {
			h = map[string]string{}
		}
		h[f.Name] = text
	}
	return h
}

func span(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

// moment converts a time in unix ms. An unknown time becomes the zero Time.
func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// report executes a command about a lease.
func (j *Jobs) report(ctx context.Context, c broker.Command, on *broker.OnQueue) error {
	if err := j.do(ctx, c); err != nil {
		return err
	}
	if missing(on.Err) {
		return fmt.Errorf("%w (%w)", worker.ErrStale, on.Err)
	}
	return meaning(on.Err)
}

func (j *Jobs) end(ctx context.Context, l worker.Lease, r *jobs.Report) error {
	token, ok := jobs.ParseToken([]byte(l.Token))
	if !ok {
		return noToken(l)
	}
	r.Queue, r.ID, r.Token = l.Queue, []byte(l.MID), token
	return j.report(ctx, r, &r.OnQueue)
}

func noToken(l worker.Lease) error {
	return fmt.Errorf("%w: %q is not a token", worker.ErrStale, l.Token)
}

// Done implements worker.Jobs.
func (j *Jobs) Done(ctx context.Context, l worker.Lease, remember time.Duration) error {
	return j.end(ctx, l, &jobs.Report{Outcome: jobs.Done, Backoff: ms(remember)})
}

// Retry implements worker.Jobs.
func (j *Jobs) Retry(ctx context.Context, l worker.Lease, after time.Duration, text string) error {
	return j.end(ctx, l, &jobs.Report{Outcome: jobs.Retry, Backoff: ms(after), Error: []byte(text)})
}

// Fail implements worker.Jobs.
func (j *Jobs) Fail(ctx context.Context, l worker.Lease, text string) error {
	return j.end(ctx, l, &jobs.Report{Outcome: jobs.Failed, Error: []byte(text)})
}

// Extend implements worker.Jobs.
func (j *Jobs) Extend(ctx context.Context, l worker.Lease, lock time.Duration) error {
	token, ok := jobs.ParseToken([]byte(l.Token))
	if !ok {
		return noToken(l)
	}
	c := &jobs.Extend{OnQueue: broker.OnQueue{Queue: l.Queue}, ID: []byte(l.MID), Token: token, Lock: ms(lock)}
	return j.report(ctx, c, &c.OnQueue)
}
