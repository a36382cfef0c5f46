// Package loans lends messages of queues to sessions that have no consumer: the next ready
// messages, messages that the caller chooses, or one message by its id or position. A request for
// one message waits while another session has it. A lent message (a loan) belongs to the session
// until the session settles it, returns it, or releases it (broker.Session.Release).
//
// The package owns the requests that wait for one message. It also knows what each transaction
// waits for and holds, to detect deadlocks. All of this is in a Manager; a broker has at most one.
// The queue, not this package, knows which messages are lent.
//
// Invariants:
//
//   - A request waits only while its message is lent. Requests for a message are served in order of
//     arrival, and before consumers.
//   - What a transaction holds does not change while it waits.
//   - A claim has one holder, which ends it with Claim.Release before its session closes. Nothing
//     else ends a claim.
//
// Lock order: the lock of the claims and the lock of the waits are never held together.
package loans
