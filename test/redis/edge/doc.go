// Package edge compares what the broker answers over the Redis protocol with what a real Redis 7
// answers: connections, transactions, channels, and requests that make no sense.
package edge
