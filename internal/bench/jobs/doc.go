// Package jobs benchmarks job queues over the Redis protocol: those of a broker, with the JOB
// commands, or those of Lua scripts on a real Redis (package lua). Each client is one connection
// that writes complete commands and parses only the parts of the replies that it needs, so that the
// benchmark measures the server and not its own client.
package jobs
