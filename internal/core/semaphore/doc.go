// Package semaphore decides which tasks of a semaphore may run: the first so many by priority.
//
// A State is the tasks of one semaphore. Enqueue, Release and Configure change what is asked; Next then tells, one at a time, the transitions
// that the rule wants, and Apply does one. Facts of the log are applied with the same methods and without Next, so that replaying a log does not
// depend on the rule.
//
// # The rule
//
// Tasks stand in the order of their priority, the more urgent first, and of equals the one that came earlier. Running are those with the status
// Acquired or TryRelease.
//
//   - While fewer than Active run, the first that waits is acquired.
//   - When more than the first Active of all tasks would have to be counted to reach a running task, it is outranked. The outranked that are among
//     the last TryRelease of the running, and nobody else, are asked to give way. A task that was asked and is so no more is retained.
//   - A task that was asked keeps its place until it is released.
//
// A State is for one goroutine at a time. It reads no clock. Every change costs O(log n) of the number of tasks.
package semaphore
