// Package lua has the reference's life cycle of a job as scripts for a real Redis: what the
// broker's jobs are compared with, in meaning (test/jobs) and in speed (the benchmark of jobs).
// Every script takes one key, the name of the queue in braces so that all of a queue is in one slot
// of a cluster, and the time as its first argument, unix ms: nothing in it looks at a clock.
//
// What a queue keeps, with K its key:
//
//	K:job:MID   hash: state (queued, locked, done), body, lock (its own lock time, ms, 0 when it has none), first (when it was enqueued, ms), attempts,
//	            place (its number in the queue), token and until while it is locked; rbody, rlock, rfirst, rplace: the version that waits behind it
//	K:ready     sorted set: those that a take may have, by place
//	K:backoff   sorted set: those that wait, by the time until which
//	K:locked    sorted set: those that a worker has, by the time its lock ends
//	K:done      sorted set: those that are done and remembered, by the time until which; 0: until the next take
//	K:number    counter: places and tokens
//
// Invariant: a job is in one of the four sets. What a set says is out of date once the time has
// passed that it is ordered by: a job in K:locked whose lock has run out is queued. Takes put it
// where it belongs; the others only think of it so.
package lua
