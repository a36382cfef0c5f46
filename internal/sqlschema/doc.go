// Package sqlschema provides the native schema mbus4: queues inside a real PostgreSQL (15 or newer)
// for users who want them in their own database, with the same functions as the SQL protocol. The
// SQL is embedded. Install runs it in one transaction, and may run it again.
//
// A message is one row per consumer that gets it, written once and deleted once: consuming is a
// DELETE of the first unlocked row (FOR UPDATE SKIP LOCKED). So a consumed message is back after a
// rollback, and no row is updated.
//
// Independent of it are the task semaphores of `fiveways semaphore install`: the rule of
// internal/core/semaphore as functions on tables.
package sqlschema
