// Package semaphoretest provides semaphores in memory, for tests of programs that use package
// semaphore, and the conformance suite for implementations of semaphore.Backend.
package semaphoretest
