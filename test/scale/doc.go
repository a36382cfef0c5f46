// Package scale fills a broker with as many semaphores and tasks as the largest that it is made
// for, and measures what they cost: memory, the processor's time of a change, and the time of a
// start. It does nothing unless SEMAPHORE_SCALE is set, to the part of the full size that it is to
// have: 1 is all of it, 5,100,000 tasks in one semaphore and 1,000,000 in 100,000.
package scale
