// Package crash kills a broker under load, again and again, and checks from the outside that it
// kept its promises.
//
// Clients (client_test.go) record what they did and saw into a History, in the order in which it
// happened for them. A promise of the broker is recorded after it arrived, an act of a client
// before it is carried out; so whatever is recorded as promised was promised, and whatever the
// broker could have done is recorded as asked for. Check then looks for breaches. It knows nothing
// of brokers and is tested on its own with planted bugs.
//
// Queues are durable, messages persistent, and each queue, or with groups each key, has one
// consumer at a time, so that the order of recording is the order of delivery. What is promised
// depends on the queues: rules.go has what holds for plain ones, rules_*.go what delays,
// de-duplication, delivery limits and groups promise.
//
// Sessions of SQL (sqlclient_test.go) do the same in transactions that consume and post, with
// several consumers at a queue.
//
// Workers of jobs (jobsclient_test.go, over the Redis protocol) have a history of their own, with
// the times of asking and answering: their promises, in rules_jobs.go, are about locks, attempts
// and backoffs.
//
// Clients of etcd's API (keysclient_test.go) change ordinary keys. Of what they asked and were told
// an order is looked for in which it can all have happened, one request after the other (keys.go);
// revisions and the events of a watch must agree with it. The same API's queues, puts and watches
// and deletes of keys, have rules of their own (rules_keyqueue.go).
//
// Clients of semaphores (semaphoresclient_test.go, over the Redis protocol) each have tasks of
// their own. What they asked and were told is compared with the messages of all transitions, which
// a consumer reads over AMQP, and with what is there at the end (rules_semaphores.go).
package crash
