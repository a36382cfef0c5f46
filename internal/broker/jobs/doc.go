// Package jobs implements background jobs on the engine's queues. A job is a message that a worker
// takes with a lease: it reports the outcome before the lease ends, or the job becomes ready again.
// The id of a job is the message-id property of its message. A message without one, or with the id
// of another message in the queue, has the id "@" and its handle.
//
// The package owns the commands for jobs (for broker.Session.Do and Await), the headers that carry
// a job's own settings, and the directory of each job queue, which maps an id to its message and to
// the message that waits behind it. The ledger of leases and remembered ids is durable and belongs
// to the shard; it is changed through shard.Context.Facts.
//
// Times and durations in the commands are milliseconds.
//
// Invariants:
//
//   - A queue gets its directory from its first command about jobs, which reads the ids of all
//     messages, or from Resume. Until then only its ledger shows that it is used for jobs.
//   - A directory is derived from the messages and the ledger: none of it is in the log.
//   - For each id at most one message can be taken, and at most one waits behind it.
package jobs
