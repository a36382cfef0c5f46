// Package loads has the clients that work on a broker while it is killed, and that check their
// histories at the end. Tests say what they work on, and how it ends: a broker, a cluster, or one
// broker for all of them for hours.
//
// A Load is one kind of clients. It asks for its broker, lets its clients work until enough has
// happened, kills the broker, and begins again with what is left (the files run_*.go, and
// scenario.go for messages over AMQP). After the last round it drains what there is.
//
// Queues are durable and messages persistent. Each queue, or each group where queues have groups,
// has one consumer at a time, so that the order of recording is the order of delivery.
//
//   - client.go has the programs of AMQP; plain.go, delayed.go and their like have the kinds of
//     queues that they work with.
//   - client_sql.go has sessions of SQL, which do the same in transactions that consume and post,
//     with several consumers per queue.
//   - client_jobs.go has workers of jobs, and client_semaphores.go clients with tasks of their own,
//     both over the Redis protocol.
//   - client_keys.go and client_keyqueue.go have clients of etcd's API, of ordinary keys and of
//     queues.
package loads
