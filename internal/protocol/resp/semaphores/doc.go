// Package semaphores has the commands of the Redis protocol about task semaphores: SEM.CREATE to
// SEM.TASKS. Redis has none of them.
//
// It owns the descriptors, the grammar and the replies of these commands. The semaphores themselves
// are in internal/semaphores; SEM.WATCH and SEM.UNWATCH are subscriptions, and belong to the
// connection.
//
// Invariants:
//
//   - A request makes changes of semaphores or none, and never has commands of the engine's queues.
//   - Only SEM.ACQUIRE waits, and never in a transaction.
package semaphores
