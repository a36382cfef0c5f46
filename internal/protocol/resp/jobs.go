package resp

import (
	"errors"

	"fiveways/internal/broker"
	"fiveways/internal/protocol/resp/respwire"
)

// jobCommands are those about jobs, and about queues as they see them. Redis has none of them.
func jobCommands() []command {
	const group = "jobs"
	return []command{
		{name: "job.enqueue", arity: -3, flags: write | denyOOM | fast, keys: oneKey, group: group, summary: "Put a job into a queue", prepare: jobEnqueue},
		{name: "job.menqueue", arity: -5, flags: write | denyOOM, keys: oneKey, group: group, summary: "Put several jobs into a queue", prepare: jobEnqueueMany},
		{name: "job.take", arity: -2, flags: write | blocking | movableKeys, keys: oneKey, group: group,
			summary: "Take jobs from the first of some queues that has one, and lock them", prepare: jobTake},
		{name: "job.done", arity: -4, flags: write | fast, keys: oneKey, group: group, summary: "Report success of a job", prepare: jobDone},
		{name: "job.retry", arity: -4, flags: write | fast, keys: oneKey, group: group, summary: "Give a job back, to be tried again", prepare: jobRetry},
		{name: "job.fail", arity: -4, flags: write | fast, keys: oneKey, group: group, summary: "Give a job up", prepare: jobFail},
		{name: "job.extend", arity: 5, flags: write | fast, keys: oneKey, group: group, summary: "Lock a job for longer", prepare: jobExtend},
		{name: "job.status", arity: -3, flags: readonly | fast, keys: oneKey, group: group, summary: "Tell the status of a job", prepare: jobStatus},
		{name: "job.cancel", arity: -3, flags: write | fast, keys: oneKey, group: group, summary: "Remove a job that is queued", prepare: jobCancel},
		{name: "job.remember", arity: -4, flags: write | fast, keys: oneKey, group: group, summary: "Let an id count as done and in backoff", prepare: jobRemember},
		{name: "queue.status", arity: 2, flags: readonly | fast, keys: oneKey, group: group, summary: "Count the jobs of a queue", prepare: queueStatus},
		{name: "queue.content", arity: -2, flags: readonly, keys: oneKey, group: group, summary: "List the jobs of a queue", prepare: queueContent},
		{name: "queue.names", arity: -1, flags: readonly, group: group, summary: "List the queues that hold messages", now: queueNames},
		{name: "queue.clear", arity: -2, flags: write, keys: keys{1, -1, 1}, group: group, summary: "Remove the jobs of queues", prepare: queueClear},
	}
}

// Errors of jobs; they name the job's id.
var jobErrors = []struct {
	err  error
	text string
}{
	{broker.ErrAlreadyQueued, "ALREADYQUEUED job '%s' is already queued"},
	{broker.ErrLocked, "LOCKED job '%s' is locked"},
	{broker.ErrBackoff, "BACKOFF job '%s' is in backoff"},
	{broker.ErrStale, "STALE the lock on job '%s' is over"},
}

// jobError writes an error of a command about the job with this id.
func jobError(w *respwire.Writer, mid []byte, err error) {
	for _, row := range jobErrors {
		if errors.Is(err, row.err) {
			w.Error(string(errorf(row.text, cut(mid, mostQuoted))))
			return
		}
	}
	replyWith(w, err)
}

// field writes the name of a value in a map.
func field(w *respwire.Writer, name string, value int64) {
	w.BulkString(name)
	w.Int(value)
}
