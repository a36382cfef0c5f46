// Package semaphore plays scripts of task semaphores to all that decide by the rule of
// internal/core/semaphore: the core itself, the manager of a broker, the functions semaphore.* of
// the broker's SQL protocol, and those that `fiveways semaphore install` puts into a real
// PostgreSQL. All must say the same. TestRandom makes scripts up (SEMAPHORE_SEED, SEMAPHORE_STEPS).
//
// # Scripts
//
// testdata has them. Each step is a line and the answer, in which lines with > are the events that
// followed, as "number event task status priority". Keys of semaphores come first where a verb has
// one.
//
//	create KEY [active=N] [try_release=N]   get or create; answers what it is
//	update KEY [active=N] [try_release=N]
//	drop KEY [if_empty]                     answers whether it was there
//	enqueue KEY TASK=PRIORITY...            answers the statuses
//	release KEY TASK...                     answers how many were there
//	status KEY TASK...
//	tasks KEY [STATUS]                      in their order, as "task priority status"
//
// What depends on a clock, leases, and what the functions in PostgreSQL do not have, the ascending
// order, is not in scripts.
//
// Without a PostgreSQL its tests skip, with CI=true they fail.
package semaphore
