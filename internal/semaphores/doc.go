// Package semaphores implements task semaphores, which let the N highest-priority tasks run.
// Changes take effect at once and are durable.
//
// The state of all semaphores is a state machine in the broker's log (statemachine.Machine). Each
// transition is published as an event to the exchange semaphore.events of its virtual host. A
// change, the transitions that follow and their events are one batch of the log: a crash preserves
// all of it or nothing, so each transition has exactly one event.
//
// Manager.Do and its variants make changes on behalf of a broker session. Its user needs
// permissions on the name of the semaphore: configure to create, change and delete it, write for
// its tasks, read to read it.
//
// # How a change is made
//
// Requests wait in the combiner. The caller that leads executes them in one round: it makes the
// changes under the lock, applies the rule after each, and writes the batch with the lock released.
// So only one batch is in flight at a time, requests that arrive during it share the next one, and
// log order is the order of the changes. A round makes about a thousand transitions. The rest of a
// large change follows in later rounds, also after a crash. If a batch does not get into the log,
// the rollback log reverts its steps. No answer shows anything that a crash could revert: a read of
// changes in flight waits for them.
//
// The rule is applied when something changes, but never in replay: facts record results.
// docs/format/semaphores.md describes them.
package semaphores
