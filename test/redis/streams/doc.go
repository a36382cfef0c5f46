// Package streams compares the stream commands with those of a real Redis, reply by reply: scripts
// of random commands, many of them malformed.
package streams
