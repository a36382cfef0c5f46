// Package semaphore runs scripts of task semaphores on every implementation of the rule of
// internal/core/semaphore: the core itself, the manager of a broker, the functions semaphore.* of
// the broker's SQL protocol, and those that `fiveways semaphore install` puts into a real
// PostgreSQL. All must give the same answers. TestRandom generates scripts (SEMAPHORE_SEED,
// SEMAPHORE_STEPS).
//
// # Scripts
//
// The scripts are in testdata. Each step is a line and its answer, in which lines with > are the
// events that followed, as "number event task status priority". If a verb has a semaphore's key, it
// comes first.
//
//	create KEY [active=N] [try_release=N]   get or create; answers what it is
//	update KEY [active=N] [try_release=N]
//	drop KEY [if_empty]                     answers whether it was there
//	enqueue KEY TASK=PRIORITY...            answers the statuses
//	release KEY TASK...                     answers how many were there
//	status KEY TASK...
//	tasks KEY [STATUS]                      in their order, as "task priority status"
//
// Scripts leave out leases, which depend on a clock, and the ascending order, which the functions
// in PostgreSQL do not have.
//
// Without a PostgreSQL its tests are skipped; with CI=true they fail.
package semaphore
