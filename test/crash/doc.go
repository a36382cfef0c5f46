// Package crash kills a broker under load, again and again, and checks from the outside that it
// kept its promises.
//
// Clients (client.go) record what they did and saw in a History, in the order in which it
// happened to them. A promise of the broker is recorded after it arrived, and an operation of a
// client before it is sent. So every recorded promise was made, and everything that the broker did
// was asked for in the record. Check then looks for violations. It knows nothing of brokers, and is
// tested on its own with planted bugs.
//
// Queues are durable and messages persistent. Each queue, or each group where queues have groups,
// has one consumer at a time, so that the order of recording is the order of delivery. What is
// promised depends on the kind of queue: rules.go has the promises of plain queues, rules_*.go
// those of delays, de-duplication, delivery limits and groups.
//
// SQL sessions (client_sql.go) do the same in transactions that consume and post, with several
// consumers per queue.
//
// Workers of jobs (client_jobs.go, over the Redis protocol) record a history of their own, with
// the times of requests and answers: rules_jobs.go has the promises about locks, attempts and
// backoffs.
//
// Clients of etcd's API (client_keys.go) change ordinary keys. Check looks for one order in
// which all their requests can have happened, one after the other (keys.go); revisions and the
// events of a watch must agree with it. Queues over etcd's API, that is, puts, watches and deletes
// of their keys, have rules of their own (rules_keyqueue.go).
//
// Clients of semaphores (client_semaphores.go, over the Redis protocol) each have tasks of
// their own. Their requests and answers are compared with the events of all transitions, which a
// consumer reads over AMQP, and with the state at the end (rules_semaphores.go).
//
// TestClusterFaults has all these clients work with a cluster of three nodes, to which other things
// happen than kills (faultkinds_test.go). A round ends with the fault, when all nodes work again
// and have the same state. A node that is cut off must tell its clients nothing
// (rules_isolated.go); jobs are linearizable, too (jobmodel.go).
package crash
