// Package semkeys presents the broker's semaphores in the virtual host / as keys of etcd:
//
//	/semaphore/{key}           a semaphore; its value is its settings, as JSON
//	/semaphore/{key}/{task}    a task of it; its value is its state
//
// The name of a semaphore has no slash. The rest of the key is the name of the task, which may
// contain slashes.
//
// Putting a key enqueues the task or changes its priority, deleting it releases the task, and a
// watch shows every change of its status or priority. A task that is put with an etcd lease is
// owned by it (semaphores.Entry.Owner): it is removed when the lease ends.
//
// Nothing is stored here. Recent events are kept for watches that resume (feed), since semaphores
// have no history.
//
// Locks: feed.mu is also held while the manager delivers events. No method of the manager or of a
// session is called while it is held.
package semkeys
