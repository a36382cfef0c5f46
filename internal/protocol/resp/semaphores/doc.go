// Package semaphores has the commands of the Redis protocol about task semaphores: SEM.CREATE to
// SEM.TASKS. Redis has none of them.
//
// It owns their rows, their grammar and the form of their replies. Semaphores themselves are those
// of internal/semaphores; SEM.WATCH and SEM.UNWATCH are subscriptions, and belong to the
// connection.
//
// Invariants:
//   - A request has changes or none, and never commands of the engine's queues.
//   - SEM.ACQUIRE alone waits, and outside of a transaction only.
package semaphores
