// Package scale fills a broker with as many semaphores and tasks as it is designed for, and
// measures memory, CPU time per change, and the time of a start. It does nothing unless
// SEMAPHORE_SCALE is set to the fraction of the full size to use: 1 is 5,100,000 tasks in one
// semaphore and 1,000,000 in 100,000.
package scale
