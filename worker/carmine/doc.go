// Package carmine is queues of jobs as Carmine, a library of Clojure, keeps them on a Redis:
// workers and producers in Go work beside those in Clojure on the same queues. Jobs implements
// worker.Jobs.
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
// workers ignore them. Two things cannot be written so that it is best for all, and Options.Oldest
// decides: a new message goes into mid-circle, where all look, or into mids-ready, where 2.x does
// not look and later workers look first; and a message that was finished while a second version
// waits behind it goes back to the queue at once, as in 2.x, or when a worker comes by, as later.
//
// # Locks
//
// A lock of ours has a token, and the time at which it ends, in lock-tokens. A worker that takes
// the message when the lock has expired changes one of the two, whatever its version, so a late
// report is worker.ErrStale and changes nothing. Until another worker has taken the message a late
// report counts.
//
// # Payloads
//
// Carmine freezes what it enqueues with Nippy, behind a mark of two bytes. Bodies are what was
// frozen; see Values. A job whose content cannot be read is left in its queue, and Take reports it
// with worker.ErrUnreadable.
package carmine
