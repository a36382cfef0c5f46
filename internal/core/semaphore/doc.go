// Package semaphore decides which tasks of a semaphore may run: the N with the highest priority.
//
// A State is the tasks of one semaphore. Put, Remove and Configure change what is asked; Next then
// tells, one at a time, the transitions that the rule wants, and SetStatus does one. Facts of a log
// are applied with the same methods and without Next, so that replaying a log does not depend on
// the rule.
//
// # The rule
//
// Tasks stand in the order of their priority, the more urgent first, and of equals the one that
// came earlier. Running are those with the status Acquired or TryRelease.
//
//   - While fewer than Active run, the first that waits is acquired.
//   - A running task is outranked when it is not among the first Active of all tasks. As many of
//     the running as are outranked, but at most TryRelease, are asked to give way: the last ones. A
//     task that was asked and is no longer among them is retained.
//   - A task that was asked keeps its place until it is released.
//
// A State is for one goroutine at a time. It reads no clock.
package semaphore
