// Package command holds what the commands of the Redis protocol have in common: the descriptor of a
// command, the request made from it, argument parsing and error replies.
//
// The connection (package resp) owns the loop, the transaction and every wait. A family of commands
// (lists, streams, jobs, semaphores) owns its descriptors and its requests; it sees its client only
// through Conn. Package resp imports the families, and they import this package.
//
// Invariants:
//
//   - A request is created by the connection's goroutine and used by it alone.
//   - Only a Blocker or a SemaphoreBlocker waits, and never in a transaction.
//   - Arguments alias the input buffer. They are valid until Reply returns, but not while a request
//     waits: a Blocker keeps copies.
package command
