package jobs

import (
	"errors"

	"fiveways.dev/fiveways/internal/broker/jobs"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
)

// Commands returns the commands about jobs and job queues.
func Commands() []command.Command {
	const read, write, add, fast = command.Readonly, command.Write, command.Write | command.DenyOOM | command.Fills, command.Fast
	row := func(name string, arity int, f command.Flags, summary string, prepare command.Prepare) command.Command {
		return command.Command{Name: name, Arity: arity, Flags: f, Keys: command.OneKey, Group: group, Summary: summary, Prepare: prepare}
	}
	clear := row("queue.clear", -2, write, "Remove the jobs of queues", queueClear)
	clear.Keys = command.AllKeys
	return []command.Command{
		row("job.enqueue", -3, add|fast, "Put a job into a queue", jobEnqueue),
		row("job.menqueue", -5, add, "Put several jobs into a queue", jobEnqueueMany),
		row("job.take", -2, write|command.Blocking|command.MovableKeys, "Take jobs from the first of some queues that has one, and lock them", jobTake),
		row("job.done", -4, write|fast, "Report success of a job", jobDone),
		row("job.retry", -4, write|fast, "Give a job back, to be tried again", jobRetry),
		row("job.fail", -4, write|fast, "Give a job up", jobFail),
		row("job.extend", 5, write|fast, "Lock a job for longer", jobExtend),
		row("job.status", -3, read|fast, "Tell the status of a job", jobStatus),
		row("job.cancel", -3, write|fast, "Remove a job that is queued", jobCancel),
		row("job.remember", -4, write|fast|command.Fills, "Let an id count as done and in backoff", jobRemember),
		row("queue.status", 2, read|fast, "Count the jobs of a queue", queueStatus),
		row("queue.content", -2, read, "List the jobs of a queue", queueContent),
		{Name: "queue.names", Arity: -1, Flags: read, Group: group, Summary: "List the queues that hold messages", Now: queueNames},
		clear,
	}
}

const group = "jobs"

const errJobID command.Error = "ERR a job's id has 1 to 255 bytes"

// jobID returns the next argument as the id of a job.
func jobID(w *command.Words) []byte {
	b := w.Next()
	if w.Err == nil && (len(b) == 0 || len(b) > jobs.MaxID) {
		w.Fail(errJobID)
		return nil
	}
	return b
}

// jobErrors holds the errors about jobs. Their texts name the job's id.
var jobErrors = []struct {
	err  error
	text string
}{
	{failure.ErrAlreadyQueued, "ALREADYQUEUED job '%s' is already queued"},
	{failure.ErrLocked, "LOCKED job '%s' is locked"},
	{failure.ErrBackoff, "BACKOFF job '%s' is in backoff"},
	{failure.ErrStale, "STALE the lock on job '%s' is over"},
}

// jobError writes an error about the job with this id.
func jobError(w *respwire.Writer, mid []byte, err error) {
	for _, row := range jobErrors {
		if errors.Is(err, row.err) {
			w.Error(string(command.Errorf(row.text, command.Quoted(mid))))
			return
		}
	}
	command.Fail(w, err)
}
