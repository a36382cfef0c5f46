// Package semaphoretest has semaphores in memory, for tests of programs that use package semaphore,
// and the conformance suite that every semaphore.Backend passes.
package semaphoretest
