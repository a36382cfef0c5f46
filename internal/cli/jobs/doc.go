// Package jobs has the commands about job queues, over the Redis protocol: those of a broker, and
// those of Carmine on a real Redis.
package jobs
