// Package queues presents the engine's queues as keys of etcd: a put to a producer's key publishes,
// a watch of a consumer's key receives, and deleting the key of a delivery acknowledges it. Package
// qkey describes the keys. They are not stored: they reflect the current state of the queues.
//
// A client that watches or puts the key of a consumer gets one consumer of the engine, with a
// session of its own, whatever connections it uses. The consumer holds its deliveries until they
// are acknowledged or returned. A delivery ends in no other way, so the goroutine that claims a
// delivery (consumer.claim) alone decides its outcome.
//
// Lock order: Namespace.mu, consumer.mu. Neither is held while a method of a session is called.
package queues
