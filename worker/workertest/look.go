package workertest

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"fiveways.dev/fiveways/worker"
)

// Status implements worker.Jobs.
func (m *Memory) Status(ctx context.Context, queue, mid string) (worker.JobStatus, error) {
	if err := m.begin(ctx); err != nil {
		return worker.JobStatus{}, err
	}
	defer m.mu.Unlock()
	now := time.Now()
	if q := m.queues[queue]; q != nil {
		if j := q.job(mid); j != nil && !j.expired(now) {
			return j.status(now), nil
		}
	}
	return worker.JobStatus{}, nil
}

func (j *job) status(now time.Time) worker.JobStatus {
	return worker.JobStatus{
		State: j.state(now), Attempts: j.attempts, Enqueued: j.first,
		Backoff: max(j.backoff.Sub(now), 0), Lock: max(j.lockedUntil.Sub(now), 0), Error: j.cause,
	}
}

// QueueStatus implements worker.Jobs.
func (m *Memory) QueueStatus(ctx context.Context, queue string) (s worker.QueueStatus, err error) {
	if err := m.begin(ctx); err != nil {
		return s, err
	}
	defer m.mu.Unlock()
	now := time.Now()
	if q := m.queues[queue]; q != nil {
		for _, j := range q.jobs {
			switch j.state(now) {
			case worker.Queued:
				s.Queued++
			case worker.Locked, worker.LockedWithRequeue:
				s.Locked++
			case worker.QueuedWithBackoff, worker.DoneWithBackoff:
				s.Backoff++
			}
			s.Total++
		}
	}
	return s, nil
}

// Content implements worker.Jobs.
func (m *Memory) Content(ctx context.Context, queue, cursor string, count int) (entries []worker.Entry, next string, err error) {
	if err := m.begin(ctx); err != nil {
		return nil, "", err
	}
	defer m.mu.Unlock()
	after := 0
	if cursor != "" {
		if after, err = strconv.Atoi(cursor); err != nil {
			return nil, "", fmt.Errorf("%w: cursor %q", worker.ErrInvalid, cursor)
		}
	}
	q := m.queues[queue]
	if q == nil {
		return nil, "", nil
	}
	now := time.Now()
	for _, j := range q.jobs {
		switch {
		case j.number <= after:
		case len(entries) == max(count, 1):
			return entries, next, nil
		default:
			entries, next = append(entries, worker.Entry{MID: j.mid, JobStatus: j.status(now)}), strconv.Itoa(j.number)
		}
	}
	return entries, "", nil
}

// Names implements worker.Jobs.
func (m *Memory) Names(ctx context.Context) (names []string, err error) {
	if err := m.begin(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	for name, q := range m.queues {
		if len(q.jobs) > 0 {
			names = append(names, name)
		}
	}
	return names, nil
}

// Clear implements worker.Jobs.
func (m *Memory) Clear(ctx context.Context, queues ...string) error {
	if err := m.begin(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	for _, name := range queues {
		delete(m.queues, name)
	}
	return nil
}

// Close implements worker.Jobs.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		m.closed = true
		m.wake()
	}
	return nil
}
