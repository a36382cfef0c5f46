// Package loans lends messages of queues to sessions without a consumer: the next messages that are
// ready, those that a caller chooses, or one by its id or its place, for which it waits while
// another session has it. A message that is lent (a loan) belongs to the session until the session
// settles it, returns it, or releases it (broker.Session.Release).
//
// The package owns the requests that wait for one message, and what transactions wait for and hold
// meanwhile, so that a deadlock is found: a Manager, of which a broker has one at most. What is
// lent is known to the queue.
//
// Invariants:
//   - A request waits only while its message is lent. Requests for a message are served in the
//     order in which they came, and before consumers.
//   - What a transaction holds does not change while it waits.
//   - A claim has one holder. It ends with Claim.Release only: its holder releases it before the
//     session closes.
//
// Lock order: the lock of the claims and that of the waits are each held alone.
package loans
