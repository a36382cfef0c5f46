// Package carmine implements worker.Jobs on the queues that Carmine, a Clojure library, keeps in
// Redis: workers and producers in Go share these queues with those in Clojure.
//
// # Versions
//
// The keys of a queue are carmine:mq:QUEUE:… . Three generations of workers are in use:
//
//   - 2.x and 3.0, 3.1 know messages, locks, backoffs, nattempts, mid-circle, done, requeue,
//     eoq-backoff? and ndry-runs;
//   - 3.2 and later also messages-rq, lock-times, lock-times-rq, udts, mids-ready and isleep-a,
//     isleep-b;
//   - the newest also lock-tokens.
//
// All keys are read, whichever generation wrote them, and the newer ones are always written: older
// workers ignore them. In two cases no form suits all generations, and Options.Oldest selects one.
// A new message goes to mid-circle, where all workers look, or to mids-ready, where 2.x does not
// look and later workers look first. A finished message with a second version waiting behind it
// goes back to the queue at once, as in 2.x, or when a worker visits it, as in later versions.
//
// # Locks
//
// A lock taken by this package has a token in lock-tokens, and the time at which it ends. A worker
// that takes the message when the lock has expired changes one of the two, whatever its version. So
// a report after that is worker.ErrStale and changes nothing; a late report is accepted until
// another worker has taken the message.
//
// # Payloads
//
// Carmine serialises bodies with Nippy, after a mark of two bytes. A job's body is the value that
// was serialised; see Values. A job whose content cannot be read is left in its queue, and Take
// reports it with worker.ErrUnreadable.
package carmine
