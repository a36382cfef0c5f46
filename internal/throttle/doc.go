// Package throttle limits publishers to rates of messages and bytes.
//
// # What it owns
//
// A Limit holds the rates of one queue, virtual host or user: a token bucket for messages and one
// for bytes, each as large as one second of its rate. A Charge is a publish that waits for several
// Limits.
//
// The buckets are not those of golang.org/x/time/rate: there a reservation keeps its time even if
// the rate changes, and a request for more tokens than the bucket holds is refused. Here a waiting
// publish follows every change of the rate, and a message larger than the bucket waits for all of
// its bytes.
//
// # Invariants
//
//   - A charge is never taken back: it delays later publishes even if the publisher does not wait
//     for it.
//   - Waits end in the order of the charges, and follow changes of the rate. A Waiter that is gone
//     ends its own earlier.
package throttle
