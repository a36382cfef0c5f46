// Package semkeys shows the broker's semaphores, those of the virtual host /, as keys of etcd:
//
//	/semaphore/{key}           a semaphore; its value is what it is set to, as JSON
//	/semaphore/{key}/{task}    a task in it; its value says where it stands
//
// The names of semaphores have no slash; what follows is the task as it is, with whatever slashes it has.
//
// Putting a key enqueues the task or changes its priority, deleting it releases the task, and a watch tells of every change of its status or priority. A
// task that is put with a lease of etcd is owned by it (semaphores.Entry.Owner): it loses its place when the lease ends.
//
// Nothing is stored here. What happened of late is kept for watches that come back (feed), since semaphores have no history.
//
// Locks: feed.mu, which is also held while the manager tells of events; no method of the manager or of a session is called with it.
package semkeys
