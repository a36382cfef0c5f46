// Package jobs implements the commands of the Redis protocol about jobs and job queues: JOB.ENQUEUE
// to QUEUE.CLEAR. Redis has none of them.
//
// It owns the descriptors, the grammar and the replies of these commands, and the conversion of
// message headers of any protocol for workers (headers.go). Jobs, their locks and their ledger
// belong to the engine.
//
// Invariants:
//
//   - The id, the token and the body of a job are bytes, and are returned as they were sent.
//   - Arguments are checked before anything is done; JOB.MENQUEUE checks those of each job.
//   - Only JOB.TAKE waits, and never in a transaction.
package jobs
