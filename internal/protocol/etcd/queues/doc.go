// Package queues shows the engine's queues as keys of etcd: a put to a producer's key publishes, a
// watch of a consumer's key receives, and deleting the key of a delivery acknowledges it. The keys
// are described in package qkey; none of them is stored: they reflect what the queues hold at the
// moment.
//
// A client that watches or puts the key of a consumer gets one consumer of the engine, with a
// session of its own, whatever connection it came by. The consumer knows its deliveries: every one
// that came and was neither acknowledged nor given back. Nothing else ends these deliveries, so the
// goroutine that claims one (consumer.claim) alone decides what becomes of it.
//
// Locks, in the order in which they are taken: Namespace.mu, consumer.mu. Neither is held while a
// method of a session is called.
package queues
