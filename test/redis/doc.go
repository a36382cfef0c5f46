// Package redis compares the commands about lists and keys with those of a real Redis, in both
// versions of the protocol: by scripts, and by random sequences of several connections.
package redis
