// Package semaphore decides which tasks of a semaphore may run: the N with the highest priority.
//
// A State is the tasks of one semaphore. Put, Remove and Configure change the tasks and the
// settings; Next then returns, one at a time, the transitions that the rule requires, and SetStatus
// makes one. Replaying a log calls the same methods but not Next, so it does not depend on the
// rule.
//
// # The rule
//
// Tasks are ordered by priority, the most urgent first, and with equal priority by arrival. A task
// is running if its status is Acquired or TryRelease.
//
//   - While fewer than Active tasks run, the first waiting task is acquired.
//   - A running task is outranked when it is not among the first Active of all tasks. The last of
//     the running tasks are asked to give way: as many as are outranked, but at most TryRelease. A
//     task that was asked and is no longer among them is retained.
//   - A task that was asked keeps running, and counts as running, until it is released.
//
// A State is for one goroutine at a time. It reads no clock.
package semaphore
