// Package lua implements the reference life cycle of a job as Lua scripts for a real Redis. The
// broker's jobs are compared with it: their meaning in test/jobs, their speed in the job benchmark.
// The first argument of every script is the time in unix ms; no script reads a clock. Its one key
// is the name of the queue in braces, so that all keys of a queue are in one slot of a Redis
// cluster.
//
// The keys of a queue, with K its key:
//
//	K:job:MID   hash: state (queued, locked, done), body, lock (its own lock time, ms, 0 when it has none), first (when it was enqueued, ms), attempts,
//	            place (its number in the queue), token and until while it is locked; rbody, rlock, rfirst, rplace: the version that waits behind it
//	K:ready     sorted set: jobs that can be taken, by place
//	K:backoff   sorted set: jobs in backoff, by the time at which it ends
//	K:locked    sorted set: jobs that a worker has, by the time at which its lock ends
//	K:done      sorted set: finished jobs, by the time until which they are remembered; 0: the next take
//	K:number    counter: places and tokens
//
// Invariant: a job is in exactly one of the four sets. An entry is out of date once the time that
// it is ordered by has passed: a job in K:locked whose lock has ended counts as queued. A take
// moves such jobs to the set where they belong; the other scripts only treat them as if they were
// there.
package lua
