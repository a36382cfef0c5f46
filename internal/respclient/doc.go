// Package respclient is what the module's clients of the Redis protocol share: the address of a
// broker (Options), pipelines that goroutines fill together (Pipeline), replies with names
// (Fields), and a connection on which the broker speaks first (Conn).
package respclient
