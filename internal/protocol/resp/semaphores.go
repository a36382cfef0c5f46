package resp

import (
	"math"
	"strconv"
	"time"

	"fiveways/internal/broker"
	"fiveways/internal/core/semaphore"
	"fiveways/internal/protocol/resp/respwire"
	"fiveways/internal/semaphores"
)

// semaphoreGroup is the group of the commands about task semaphores.
const semaphoreGroup = "semaphores"

// semaphoreCommands are those about task semaphores. Redis has none of them.
func semaphoreCommands() []command {
	const group = semaphoreGroup
	const listens = pubsub | noScript | noMulti | subscribed
	return []command{
		{name: "sem.create", arity: -2, flags: write | denyOOM | fast, keys: oneKey, group: group, summary: "Make a semaphore when there is none", prepare: semCreate},
		{name: "sem.set", arity: -2, flags: write | fast, keys: oneKey, group: group, summary: "Change the settings of a semaphore", prepare: semSet},
		{name: "sem.del", arity: -2, flags: write, keys: oneKey, group: group, summary: "Delete a semaphore with its tasks", prepare: semDel},
		{name: "sem.info", arity: 2, flags: readonly | fast, keys: oneKey, group: group, summary: "Describe a semaphore", prepare: semInfo},
		{name: "sem.list", arity: -1, flags: readonly, group: group, summary: "List the semaphores", now: semList},
		{name: "sem.enqueue", arity: -4, flags: write | denyOOM, keys: oneKey, group: group, summary: "Put tasks in line, or change their priorities", prepare: semEnqueue},
		{name: "sem.acquire", arity: -4, flags: write | denyOOM | blocking, keys: oneKey, group: group, summary: "Put a task in line and wait until it runs", prepare: semAcquire},
		{name: "sem.release", arity: -3, flags: write, keys: oneKey, group: group, summary: "Take tasks out, and give their places to the next", prepare: semRelease},
		{name: "sem.renew", arity: -3, flags: write, keys: oneKey, group: group, summary: "Begin the leases of running tasks anew", prepare: semRenew},
		{name: "sem.status", arity: -3, flags: readonly | fast, keys: oneKey, group: group, summary: "Tell the statuses of tasks", prepare: semStatus},
		{name: "sem.tasks", arity: -2, flags: readonly, keys: oneKey, group: group, summary: "List tasks in their order", prepare: semTasks},
		{name: "sem.watch", arity: -2, flags: listens, group: group, summary: "Listen to what happens to tasks", now: semWatch},
		{name: "sem.unwatch", arity: -1, flags: listens, group: group, summary: "Stop listening to what happens to tasks", now: semUnwatch},
	}
}

// onSemaphore is the part of a request about semaphores that all have: they need no commands of the engine.
type onSemaphore struct{}

func (onSemaphore) commands(dst []broker.Command) []broker.Command { return dst }

// mostTasks is how many running tasks a semaphore may have, as far as this protocol takes numbers.
const mostTasks = math.MaxInt32

// settings reads [ACTIVE n] [TRYRELEASE n] [ORDER ASC|DESC] [LEASE ms].
func (w *words) settings() (s semaphores.Settings) {
	for w.more() {
		switch w.keyword() {
		case "ACTIVE":
			s.Active = new(int(w.number(mostTasks)))
		case "TRYRELEASE":
			s.TryRelease = new(int(w.number(mostTasks)))
		case "LEASE":
			s.Lease = new(w.ms())
		case "ORDER":
			order := w.keyword()
			if w.err == nil && order != "ASC" && order != "DESC" {
				w.unknown()
			}
			s.Ascending = new(order == "ASC")
		default:
			w.unknown()
		}
	}
	return s
}

// priority is the next one as a finite number.
func (w *words) priority() float64 {
	f, err := strconv.ParseFloat(string(w.next()), 64)
	if w.err == nil && (err != nil || math.IsNaN(f) || math.IsInf(f, 0)) {
		w.fail(errNotFloat)
		return 0
	}
	return f
}

// texts are copies of arguments.
func texts(args [][]byte) []string {
	all := make([]string, len(args))
	for i, a := range args {
		all[i] = string(a)
	}
	return all
}

// writeInfo describes a semaphore.
func writeInfo(w *respwire.Writer, i *semaphores.Info) {
	w.Map(8)
	w.BulkString("key")
	w.BulkString(i.Key)
	field(w, "active", int64(i.Config.Active))
	field(w, "try_release", int64(i.Config.TryRelease))
	w.BulkString("order")
	if i.Config.Ascending {
		w.BulkString("asc")
	} else {
		w.BulkString("desc")
	}
	field(w, "lease", i.Config.Lease)
	field(w, "waiting", int64(i.Waiting))
	field(w, "acquired", int64(i.Acquired))
	field(w, "try_release_asked", int64(i.TryRelease))
}

// writeStatus tells the status of a task, nothing when it does not stand in line.
func writeStatus(w *respwire.Writer, s *semaphores.State) {
	if !s.Found {
		w.Null()
		return
	}
	w.BulkString(s.Status.String())
}

// writeTask tells all of a task, nothing when it does not stand in line.
func writeTask(w *respwire.Writer, s *semaphores.State, now time.Time) {
	if !s.Found {
		w.Null()
		return
	}
	w.Map(7)
	w.BulkString("task")
	w.BulkString(s.ID)
	w.BulkString("status")
	w.BulkString(s.Status.String())
	w.BulkString("priority")
	w.Double(s.Priority)
	field(w, "position", int64(s.Position))
	field(w, "enqueued", s.Enqueued/1000)
	field(w, "lease", s.Lease)
	field(w, "left", leaseLeft(s, now))
}

// leaseLeft is how many ms are left of a running task's lease; 0: it has none.
func leaseLeft(s *semaphores.State, now time.Time) int64 {
	if s.Status == semaphore.Wait || s.Until == 0 {
		return 0
	}
	return max(s.Until-now.UnixMilli(), 1)
}
