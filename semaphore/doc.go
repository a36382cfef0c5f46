// Package semaphore lets programs take part in the task semaphores of a Fiveways broker: of the
// tasks that are enqueued at a semaphore, the N highest-priority ones run. The broker decides which
// the moment something changes, and keeps it on disk.
//
//	semaphores, err := semaphore.Dial("redis://guest:guest@127.0.0.1:6380")
//	if err != nil { … }
//	defer semaphores.Close()
//
//	crowd, err := semaphores.GetOrCreate(ctx, "crowd", semaphore.Settings{Active: new(1000), TryRelease: new(900)})
//	if err != nil { … }
//
//	held, err := crowd.Acquire(ctx, "task-42", 5) // waits until the task may run
//	if err != nil { … }
//	work(held) // ends early when the task is asked to give way: context.Cause(held) is ErrTryRelease
//	crowd.Release(ctx, "task-42")
//
// A program that need not wait uses Enqueue, Release and Status, and learns what happens by Watch.
//
// A Manager is all semaphores of a virtual host: of a broker that is dialled (Dial), of one in the
// same process (fiveways.Broker.Semaphores), or of any other Backend (New). Managers and Semaphores
// may be used by any number of goroutines.
package semaphore
