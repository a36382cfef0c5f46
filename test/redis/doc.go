// Package redis compares the commands of lists, keys and kinds with those of a real Redis, in both
// versions of the protocol: scripts, and random sequences of several connections.
package redis
