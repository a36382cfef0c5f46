// Package semaphore is the load of `fiveways bench semaphore`: how soon a place that is released is
// taken by the next task, and how many changes a server does. Servers are Fiveways over the Redis
// protocol or SQL, a real PostgreSQL with the functions of `fiveways semaphore install`, and one
// with tables alone over which a sweep goes now and then, as where task semaphores come from.
package semaphore
