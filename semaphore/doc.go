// Package semaphore lets programs use the task semaphores of a Fiveways broker: of the tasks that
// are enqueued at a semaphore, the N highest-priority ones run. The broker decides which ones as
// soon as something changes, and its decisions are durable.
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
// A program that does not need to wait uses Enqueue, Release and Status, and follows events with
// Watch.
//
// A Manager gives access to all semaphores of a virtual host: of a broker over the network (Dial),
// of a broker in the same process (fiveways.Broker.Semaphores), or of any other Backend (New). Any
// number of goroutines may use Managers and Semaphores at once.
package semaphore
