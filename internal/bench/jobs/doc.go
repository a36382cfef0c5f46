// Package jobs loads job queues over the Redis protocol: those of a broker with its JOB commands,
// or those of Lua scripts on a real Redis (package lua). Each client is a connection that writes
// whole commands and parses only the parts of the answers that it needs, so that it measures the
// server.
package jobs
