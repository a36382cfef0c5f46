// Package semaphores has the commands about task semaphores.
package semaphores
