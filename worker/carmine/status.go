package carmine

import (
	"context"
	"fmt"
	"time"

	"fiveways.dev/fiveways/worker"
)

// Status implements worker.Jobs.
func (j *Jobs) Status(ctx context.Context, queue, mid string) (worker.JobStatus, error) {
	if err := j.open(); err != nil {
		return worker.JobStatus{}, err
	}
	reply, err := j.run(ctx, statusScript, queue, mid)
	if err != nil {
		return worker.JobStatus{}, fmt.Errorf("carmine: status: %w", err)
	}
	f := fields{reply: reply}
	g := f.list(1)
	e := entryOf(&g, f.integer(0))
	if f.err != nil {
		return worker.JobStatus{}, f.err
	}
	return e.JobStatus, g.err
}

// pageSize is the maximum number of messages that one script call lists.
const pageSize = 500

// QueueStatus implements worker.Jobs. It lists the queue. Concurrent changes may or may not be
// counted.
func (j *Jobs) QueueStatus(ctx context.Context, queue string) (s worker.QueueStatus, err error) {
	seen := map[string]bool{} // Redis may list an entry twice while its hash table grows
	for cursor := "0"; ; {
		entries, next, err := j.page(ctx, queue, cursor, pageSize)
		if err != nil {
			return s, err
		}
		for _, e := range entries {
			if seen[e.MID] {
				continue
			}
			seen[e.MID] = true
			s.Total++
			switch e.State {
			case worker.Queued:
				s.Queued++
			case worker.Locked, worker.LockedWithRequeue:
				s.Locked++
			case worker.QueuedWithBackoff, worker.DoneWithBackoff:
				s.Backoff++
			}
		}
		if cursor = next; next == "0" {
			return s, nil
		}
	}
}

// Content implements worker.Jobs.
func (j *Jobs) Content(ctx context.Context, queue, cursor string, count int) (entries []worker.Entry, next string, err error) {
	if cursor == "" {
		cursor = "0"
	}
	entries, next, err = j.page(ctx, queue, cursor, min(max(count, 1), pageSize))
	if next == "0" {
		next = ""
	}
	return entries, next, err
}

func (j *Jobs) page(ctx context.Context, queue, cursor string, count int) (entries []worker.Entry, next string, err error) {
	if err := j.open(); err != nil {
		return nil, "", err
	}
	reply, err := j.run(ctx, pageScript, queue, cursor, count)
	if err != nil {
		return nil, "", fmt.Errorf("carmine: content: %w", err)
	}
	f := fields{reply: reply}
	now := f.integer(0)
	next = f.text(1)
	all := f.list(2)
	for i := range all.len() {
		g := all.list(i)
		if entries = append(entries, entryOf(&g, now)); g.err != nil {
			return nil, "", g.err
		}
	}
	return entries, next, f.err
}

// entryOf decodes the reply of the script function entry. now is the Redis server's time.
func entryOf(f *fields, now int64) worker.Entry {
	left := func(until int64) time.Duration { return time.Duration(max(until-now, 0)) * time.Millisecond }
	e := worker.Entry{MID: f.text(0)}
	e.State = stateOf(f.text(1), f.integer(2) == 1, f.integer(3) == 1)
	if e.State == worker.None {
		return e
	}
	e.Attempts, e.Enqueued, e.Backoff = int(f.integer(4)), moment(f.integer(5)), left(f.integer(6))
	if until := f.integer(7); e.State == worker.Locked || e.State == worker.LockedWithRequeue {
		e.Lock = left(until)
	}
	return e
}

func stateOf(base string, backsOff, waits bool) worker.State {
	switch base {
	case "queued":
		if backsOff {
			return worker.QueuedWithBackoff
		}
		return worker.Queued
	case "locked":
		if waits {
			return worker.LockedWithRequeue
		}
		return worker.Locked
	case "done":
		switch {
		case waits:
			return worker.DoneWithRequeue
		case backsOff:
			return worker.DoneWithBackoff
		}
		return worker.DoneAwaitingGC
	}
	return worker.None
}
