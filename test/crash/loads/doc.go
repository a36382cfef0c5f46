// Package loads implements clients that use a broker while it is killed, and that check their
// histories at the end. Tests choose what they use: a broker, a cluster, or one broker for all
// loads for hours.
//
// A Load is one kind of client. It requests a broker, lets its clients work until enough has
// happened, kills the broker, and starts again with the remaining data (run_*.go, and scenario.go
// for messages over AMQP). After the last round it drains the queues.
//
// Queues are durable and messages persistent. Each queue, or each group if messages have groups,
// has one consumer at a time, so that the order of recording is the order of delivery.
//
//   - client.go has the AMQP clients; plain.go, delayed.go and similar files have the kinds of
//     queues that they use.
//   - client_sql.go has SQL sessions, whose transactions consume and post, with several consumers
//     per queue.
//   - client_jobs.go has workers of jobs, and client_semaphores.go clients with their own tasks,
//     both over the Redis protocol.
//   - client_keys.go and client_keyqueue.go have clients of etcd's API, for ordinary keys and for
//     queues.
package loads
