// Package semaphores keeps task semaphores: who may go on, by priority, decided the moment something changes, and durable.
//
// The state of all semaphores is an annex of the broker's log (broker.Annex), and an event of each transition is a message to the exchange
// semaphore.events of its virtual host. What a change does, the transitions that follow, and their events are one group of the log: after a crash all
// of that is there or nothing, so each transition has exactly one event.
//
// Changes are done by Manager.Do and its sisters, in the name of a session of the broker, whose user needs permissions on the name of the semaphore:
// configure to make, change and delete one, write for its tasks, read to look at it.
package semaphores
