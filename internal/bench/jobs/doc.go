// Package jobs loads queues of jobs over the Redis protocol: those of a broker with its JOB commands, or those that Lua scripts keep on a real
// Redis (package lua). Each client is a connection that writes whole commands and looks only at what it needs of the answers, so that what is
// measured is the server.
package jobs
