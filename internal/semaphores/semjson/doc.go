// Package semjson is how semaphores, tasks, events and refusals look in JSON: over HTTP, in answers of AMQP, as values of etcd's keys and on the command
// line with -o json. Leases are in milliseconds, times in UTC with microseconds.
package semjson
