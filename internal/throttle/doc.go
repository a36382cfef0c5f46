// Package throttle holds publishers to rates of messages and bytes.
//
// # What it owns
//
// A Limit is the rates of one queue, virtual host or user: a token bucket for messages and one for
// bytes, each of which holds one second. A Charge is a publish that waits for several of them.
//
// # Invariants
//
//   - What was charged stays charged: it delays later publishes even if the publisher does not wait
//     for it.
//   - Waiting ends in the order of the charges, and waiting publishers go on with a rate that
//     changes meanwhile.
package throttle
