// Package sqlschema holds the native schema mbus4: queues inside a real PostgreSQL (15 or newer) for those who want them in their own database,
// with the same functions as the SQL protocol serves. The SQL is embedded; Install runs it in one transaction, and may run it again.
//
// A message is one row for each consumer that shall get it, written once and deleted once: consuming is DELETE of the first row that nobody has
// locked (FOR UPDATE SKIP LOCKED). So a consumed message comes back by itself when its transaction ends otherwise, and nothing is updated.
//
// Beside it, and independent of it, are the task semaphores of `fiveways semaphore install`: the rule of internal/core/semaphore as functions on tables.
package sqlschema
