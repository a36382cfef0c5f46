// Package jobs has the commands of the Redis protocol about jobs, and about queues as they see
// them: JOB.ENQUEUE to QUEUE.CLEAR. Redis has none of them.
//
// It owns their rows, their grammar, the form of their replies, and how the headers of a message of
// any protocol are shown to a worker (headers.go). Jobs, their locks and their ledger are the
// engine's.
//
// Invariants:
//   - The id, the token and the body of a job are bytes, which come back as they were sent.
//   - What is wrong with the arguments is told before anything is done; of JOB.MENQUEUE, for each
//     job.
//   - JOB.TAKE alone waits, and outside of a transaction only.
package jobs
