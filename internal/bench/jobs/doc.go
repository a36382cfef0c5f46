// Package jobs loads job queues over the Redis protocol: a broker's, with the JOB commands, or
// those of Lua scripts on a real Redis (package lua). Each client is one connection that writes
// whole commands and parses only the parts of the answers that it needs, so that the benchmark
// measures the server and not its own client.
package jobs
