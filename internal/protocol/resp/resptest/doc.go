// Package resptest is shared by the tests of the Redis protocol and of its command families. It has
// a broker in memory with a server in front, and a client that a test controls step by step. It
// does not import the server that it starts, so that the server's own tests can use it.
//
// Its functions run on the goroutine of the test. If a reply does not arrive within Patience, the
// test fails.
package resptest
