// Package resptest is what the tests of the Redis protocol and of its families of commands share: a
// broker in memory with a server in front, and a client that a test controls step by step. It does
// not import the server that it starts, so that the server's own tests can use it.
//
// Its functions run on the goroutine of the test. A client waits Patience for a reply, then the
// test fails.
package resptest
