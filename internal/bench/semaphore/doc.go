// Package semaphore implements the load of `fiveways bench semaphore`. It measures how soon the
// next task starts after a running one is released, and how many changes per second a server makes.
// The servers are Fiveways over the Redis protocol or SQL, a real PostgreSQL with the functions of
// `fiveways semaphore install`, and a PostgreSQL with plain tables that a periodic sweep updates:
// the design that task semaphores come from.
package semaphore
