// Package jobs serves background jobs over HTTP: the queues with jobs, the state of each job, and
// enqueuing, cancelling and retrying one. Jobs are messages of a queue that are taken by a lease,
// as over the Redis protocol (ADR 14); a worker over HTTP takes them as messages.
package jobs
