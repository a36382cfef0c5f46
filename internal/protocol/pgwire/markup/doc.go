// Package markup is task semaphores in SQL: the functions of the schema semaphore, and in the schema markup the tables semaphore and semaphore_task with
// the type semaphore_status.
//
// A semaphore is made at once, and taken back when its transaction is rolled back, as queues are; everything else, changes of semaphores and of their
// tasks, happens when the transaction is committed, together with what it posts and consumes.
package markup
