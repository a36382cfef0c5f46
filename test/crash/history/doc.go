// Package history records what clients did and saw while brokers were killed, and checks the
// promises that a broker must have kept.
//
// A history has events in the order in which they happened to their client. A promise of the broker
// is recorded after it arrived, and an operation of a client before it is sent. So every recorded
// promise was made, and the record has a request for everything that the broker did. The package
// does not depend on brokers, and is tested on its own with planted bugs.
//
// Each kind of client has a history and rules for it:
//   - Messages: what is promised depends on the kind of queue. rules.go has the promises of plain
//     queues, rules_*.go those of delays, de-duplication, delivery limits, groups and transactions
//     of SQL. An isolated node must tell its clients nothing (rules_isolated.go).
//   - Jobs, with the times of requests and answers: rules_jobs.go has the promises about locks,
//     attempts and backoffs. Jobs are linearizable, too (jobmodel.go).
//   - Keys: ordinary keys of etcd's API. There must be one order in which all requests can have
//     happened, one after the other (keys.go); revisions and the events of a watch agree with it.
//   - Queue: a queue that is used by puts, watches and deletes of its keys (rules_keyqueue.go).
//   - Semaphores: requests and answers are compared with the events of all transitions, and with
//     the state at the end (rules_semaphores.go).
package history
