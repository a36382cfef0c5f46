// Package inspect looks at what a broker holds: the messages of a queue (Browser), queues,
// exchanges and consumers with their figures, samples of everything for monitoring (Sampler), and
// data folders at rest (Describe).
//
// It owns nothing of the engine, and changes nothing that it looks at: no message is marked,
// counted or moved. A Sampler alone keeps something, the ages of queues.
//
// Invariants:
//   - A shard is never held for more than a page of messages or some hundred queues.
//   - A listing is no snapshot: each queue is shown as it is when its turn comes, and one that is
//     deleted before that is left out.
package inspect
