// Package streams compares the commands of streams with those of a real Redis: scripts of random
// commands, many of them wrong, reply by reply.
package streams
