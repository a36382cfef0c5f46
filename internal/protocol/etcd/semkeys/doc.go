// Package semkeys shows the broker's semaphores, those of the virtual host /, as keys of etcd:
//
//	/semaphore/{key}           a semaphore; its value is its settings, as JSON
//	/semaphore/{key}/{task}    a task of it; its value is its state
//
// The name of a semaphore has no slash; the rest of the key is the task's name, which may have
// slashes.
//
// Putting a key enqueues the task or changes its priority, deleting it releases the task, and a
// watch shows every change of its status or priority. A task that is put with an etcd lease is
// owned by it (semaphores.Entry.Owner): it is removed when the lease ends.
//
// Nothing is stored here. Recent events are kept for watches that resume (feed), since semaphores
// have no history.
//
// Locks: feed.mu, which is also held while the manager delivers events; no method of the manager or
// of a session is called with it.
package semkeys
