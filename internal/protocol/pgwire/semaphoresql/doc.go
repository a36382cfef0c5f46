// Package semaphoresql provides SQL access to task semaphores: the functions of the schema
// semaphore, and the tables semaphore and semaphore_task and the type semaphore_status of the
// schema markup.
//
// Like the creation of a queue, the creation of a semaphore takes effect at once and is undone if
// the transaction rolls back. All other changes of semaphores and tasks take effect at commit,
// atomically with the messages that the transaction posts and consumes.
package semaphoresql
