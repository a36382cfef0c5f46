package semaphores

import (
	"math"
	"strconv"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/semaphore"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
	"fiveways.dev/fiveways/internal/semaphores"
)

// Commands returns the commands about task semaphores.
func Commands() []command.Command {
	row := func(name string, arity int, f command.Flags, summary string, prepare command.Prepare) command.Command {
		return command.Command{Name: name, Arity: arity, Flags: f, Keys: command.OneKey, Group: command.SemaphoreGroup,
			Summary: summary, Prepare: prepare}
	}
	// None has DenyOOM: the engine itself rejects new tasks, and takes changes of those that exist.
	const read, write = command.Readonly, command.Write
	return []command.Command{
		row("sem.create", -2, write|command.Fast, "Create a semaphore if it does not exist", semCreate),
		row("sem.set", -2, write|command.Fast, "Change the settings of a semaphore", semSet),
		row("sem.del", -2, write, "Delete a semaphore with its tasks", semDel),
		row("sem.info", 2, read|command.Fast, "Describe a semaphore", semInfo),
		{Name: "sem.list", Arity: -1, Flags: read, Group: command.SemaphoreGroup, Summary: "List the semaphores", Now: semList},
		row("sem.enqueue", -4, write, "Put tasks in line, or change their priorities", semEnqueue),
		row("sem.acquire", -4, write|command.Blocking, "Put a task in line and wait until it runs", semAcquire),
		row("sem.release", -3, write, "Take tasks out, and give their places to the next", semRelease),
		row("sem.renew", -3, write, "Begin the leases of running tasks anew", semRenew),
		row("sem.status", -3, read|command.Fast, "Tell the statuses of tasks", semStatus),
		row("sem.tasks", -2, read, "List tasks in their order", semTasks),
	}
}

// onSemaphore is embedded in all requests on semaphores. They need no engine commands.
type onSemaphore struct{}

func (onSemaphore) Commands(dst []broker.Command) []broker.Command { return dst }

// mostTasks is the maximum number of running tasks per semaphore that this protocol accepts.
const mostTasks = math.MaxInt32

// settings parses [ACTIVE n] [TRYRELEASE n] [ORDER ASC|DESC] [LEASE ms].
func settings(w *command.Words) (s semaphores.Settings) {
	for w.More() {
		switch w.Keyword() {
		case "ACTIVE":
			s.Active = new(int(w.Number(mostTasks)))
		case "TRYRELEASE":
			s.TryRelease = new(int(w.Number(mostTasks)))
		case "LEASE":
			s.Lease = new(w.MS())
		case "ORDER":
			order := w.Keyword()
			if w.Err == nil && order != "ASC" && order != "DESC" {
				w.Unknown()
			}
			s.Ascending = new(order == "ASC")
		default:
			w.Unknown()
		}
	}
	return s
}

// priority returns the next argument as a finite number.
func priority(w *command.Words) float64 {
	f, err := strconv.ParseFloat(string(w.Next()), 64)
	if w.Err == nil && (err != nil || math.IsNaN(f) || math.IsInf(f, 0)) {
		w.Fail(command.ErrNotFloat)
		return 0
	}
	return f
}

// texts returns copies of the arguments.
func texts(args [][]byte) []string {
	all := make([]string, len(args))
	for i, a := range args {
		all[i] = string(a)
	}
	return all
}

// writeInfo writes the description of a semaphore.
func writeInfo(w *respwire.Writer, i *semaphores.Info) {
	w.Map(8)
	w.TextField("key", i.Key)
	w.Field("active", int64(i.Config.Active))
	w.Field("try_release", int64(i.Config.TryRelease))
	w.BulkString("order")
	if i.Config.Ascending {
		w.BulkString("asc")
	} else {
		w.BulkString("desc")
	}
	w.Field("lease", i.Config.Lease)
	w.Field("waiting", int64(i.Waiting))
	w.Field("acquired", int64(i.Acquired))
	w.Field("try_release_asked", int64(i.TryRelease))
}

// writeStatus writes the status of a task, or null if the task is not queued.
func writeStatus(w *respwire.Writer, s *semaphores.State) {
	if !s.Found {
		w.Null()
		return
	}
	w.BulkString(s.Status.String())
}

// writeTask writes the details of a task, or null if the task is not queued.
func writeTask(w *respwire.Writer, s *semaphores.State, now time.Time) {
	if !s.Found {
		w.Null()
		return
	}
	w.Map(7)
	w.TextField("task", s.ID)
	w.TextField("status", s.Status.String())
	w.BulkString("priority")
	w.Double(s.Priority)
	w.Field("position", int64(s.Position))
	w.Field("enqueued", s.Enqueued/1000)
	w.Field("lease", s.Lease)
	w.Field("left", leaseLeft(s, now))
}

// leaseLeft returns the remaining ms of a running task's lease, or 0 if it has none.
func leaseLeft(s *semaphores.State, now time.Time) int64 {
	if s.Status == semaphore.Wait || s.Until == 0 {
		return 0
	}
	return max(s.Until-now.UnixMilli(), 1)
}
