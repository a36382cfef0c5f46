// Package lists has the commands of the Redis protocol about lists: LPUSH to BRPOPLPUSH.
//
// A list is a queue. Its left end is the end of the queue, where other protocols publish; its right
// end is the head, which consumers get next. A list without elements does not exist for Redis
// clients, even if its queue does.
//
// The package owns the descriptors, the grammar and the replies of these commands; elements are the
// engine's messages.
//
// Invariants:
//
//   - Each request is one command of the engine for each of its lists.
//   - A request about several lists takes from the first one that has an element, even after a
//     wait.
package lists
