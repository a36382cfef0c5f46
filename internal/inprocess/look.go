package inprocess

import (
	"context"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/broker/jobs"
	"fiveways.dev/fiveways/internal/core/job"
	"fiveways.dev/fiveways/worker"
)

// look executes a read-only command. found is false if the queue does not exist.
func (j *Jobs) look(ctx context.Context, c broker.Command, on *broker.OnQueue) (found bool, err error) {
	if err := j.do(ctx, c); err != nil {
		return false, err
	}
	if missing(on.Err) {
		return false, nil
	}
	return on.Err == nil, meaning(on.Err)
}

// Status implements worker.Jobs.
func (j *Jobs) Status(ctx context.Context, queue, mid string) (worker.JobStatus, error) {
	c := &jobs.Status{OnQueue: broker.OnQueue{Queue: queue}, ID: []byte(mid)}
	if found, err := j.look(ctx, c, &c.OnQueue); !found {
		return worker.JobStatus{}, err
	}
	return status(&c.Info), nil
}

func status(i *jobs.Info) worker.JobStatus {
	if i.State == job.None {
		return worker.JobStatus{}
	}
	return worker.JobStatus{
		State: worker.State(i.State.String()), Attempts: int(i.Attempts), Enqueued: moment(i.First), Backoff: span(i.Backoff), Lock: span(i.Lock),
		Priority: int(i.Priority), Error: i.Error,
	}
}

// QueueStatus implements worker.Jobs.
func (j *Jobs) QueueStatus(ctx context.Context, queue string) (worker.QueueStatus, error) {
	c := &jobs.Counts{OnQueue: broker.OnQueue{Queue: queue}}
	if found, err := j.look(ctx, c, &c.OnQueue); !found {
		return worker.QueueStatus{}, err
	}
	return worker.QueueStatus{
		Queued: c.Queued, Locked: c.Locked, Backoff: c.Backoff + c.DoneBackoff, Total: c.Queued + c.Locked + c.Backoff + c.Done,
	}, nil
}

// Content implements worker.Jobs.
func (j *Jobs) Content(ctx context.Context, queue, cursor string, count int) (entries []worker.Entry, next string, err error) {
	c := &jobs.Content{OnQueue: broker.OnQueue{Queue: queue}, Cursor: cursor, Max: max(count, 1)}
	if found, err := j.look(ctx, c, &c.OnQueue); !found {
		return nil, "", err
	}
	for i := range c.Jobs {
		entries = append(entries, worker.Entry{MID: string(c.Jobs[i].ID), JobStatus: status(&c.Jobs[i])})
	}
	return entries, c.Next, nil
}

// Names implements worker.Jobs.
func (j *Jobs) Names(ctx context.Context) (names []string, err error) {
	s, err := j.get(ctx)
	if err != nil {
		return nil, err
	}
	defer j.put(s)
	all, err := inspect.Queues(s)
	for _, q := range all {
		if q.Ready+q.Unacked+q.Scheduled+q.Blocked > 0 {
			names = append(names, q.Name)
		}
	}
	return names, meaning(err)
}

// Clear implements worker.Jobs.
func (j *Jobs) Clear(ctx context.Context, queues ...string) error {
	clears := make([]jobs.Clear, len(queues))
	commands := make([]broker.Command, len(queues))
	for i, name := range queues {
		clears[i].Queue = name
		commands[i] = &clears[i]
	}
	if err := j.do(ctx, commands...); err != nil {
		return err
	}
	for i := range clears {
		if err := clears[i].Err; err != nil && !missing(err) {
			return meaning(err)
		}
	}
	return nil
}
