// Package respclient contains what the module's clients of the Redis protocol share: the address of
// a broker (Options), pipelines shared by goroutines (Pipeline), replies with named fields
// (Fields), and a connection over which the broker pushes messages (Conn).
package respclient
