// Package jobs uses queues of the engine for jobs. A job is a message that is taken by a lease: a
// worker has it until a time, and reports its outcome by then. Its id is the property message-id of
// the message. A message without one, or with one that another message of the queue has already,
// has the id "@" and its handle.
//
// The package owns the commands about jobs (for broker.Session.Do and Await), the headers in which
// a message says what it is as a job, and the directory of each queue of jobs: where the message of
// an id is, and which messages wait behind others. The ledger of leases and of the ids that are
// remembered is the log's: broker.Context.Facts changes it.
//
// Times and spans of the commands are milliseconds.
//
// Invariants:
//   - A queue gets its directory with the first command about jobs, which reads all messages for
//     their ids, or from Resume; until then nothing but its ledger says that it is used for jobs.
//   - A directory follows from the messages and the ledger: none of it is in the log.
//   - At most one message of an id can be had, and at most one waits behind it.
package jobs
