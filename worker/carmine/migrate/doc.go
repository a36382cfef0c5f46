// Package migrate moves queues of jobs from Carmine's keys on a Redis into a Fiveways broker.
//
// A job is removed from the Redis only when the broker has answered that it has it, and only when
// nothing has changed in it since it was read. A run that was broken off anywhere can be run again:
// ids tell what has arrived.
package migrate
