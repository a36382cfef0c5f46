// Package inspect reads what a broker holds: the messages of a queue (Browser), queues, exchanges
// and consumers with their figures, samples of everything for monitoring (Sampler), and data
// folders at rest (Describe).
//
// It changes nothing: no message is marked, counted or moved. Its only state is in a Sampler, which
// remembers the ages of queues.
//
// Invariants:
//
//   - A shard is never held for longer than it takes to read a page of messages or some hundred
//     queues.
//   - A listing is not a snapshot: each queue is shown as it is when the listing reaches it, and a
//     queue that was deleted before that is left out.
package inspect
