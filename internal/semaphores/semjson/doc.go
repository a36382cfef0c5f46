// Package semjson defines the JSON form of semaphores, tasks, events and errors: over HTTP, in AMQP
// replies, in values of etcd keys and on the command line with -o json. Leases are in milliseconds,
// times in UTC with microseconds.
package semjson
