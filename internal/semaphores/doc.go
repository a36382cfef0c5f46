// Package semaphores keeps task semaphores: who may go on, by priority, decided the moment something changes, and durable.
//
// The state of all semaphores is an annex of the broker's log (broker.Annex), and an event of each transition is a message to the exchange
// semaphore.events of its virtual host. What a change does, the transitions that follow, and their events are one group of the log: after a crash all
// of that is there or nothing, so each transition has exactly one event.
//
// Changes are done by Manager.Do and its sisters, in the name of a session of the broker, whose user needs permissions on the name of the semaphore:
// configure to make, change and delete one, write for its tasks, read to look at it.
//
// # How a change is done
//
// Callers wait in a line, and the first of it leads: he does what has gathered in one round, under the lock, asks the rule after each change, and
// records all of it while the lock is free. So one group of the log is on its way at a time, who comes meanwhile shares the next one, and the order of
// the log is that of the changes. A round takes about a thousand transitions; what is left of a large change follows in the next ones, also after a
// crash. When a group is kept out of the log, what it did is undone. Nobody is told what a crash could take back: who looks at something that is on
// its way waits for it.
//
// The rule is asked when something changes and never when the log is replayed: facts say how things are. docs/format/semaphores.md has them.
package semaphores
