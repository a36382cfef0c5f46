// Package jobs serves background jobs over HTTP: which queues have any, what is
// known of each, and enqueuing, cancelling and retrying one. Jobs are messages of a
// queue that are taken by a lease, as over the Redis protocol (ADR 14); whoever
// works on them over HTTP takes them as messages.
package jobs
