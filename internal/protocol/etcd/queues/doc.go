// Package queues shows the engine's queues as keys of etcd: what is put to a producer's key is published, a watch of a consumer's key receives, and deleting
// the key of a delivery acknowledges it. The keys are described in package qkey; none of them is stored anywhere, they are what the queues hold at the moment.
//
// Who watches or puts the key of a consumer gets one consumer of the engine, with a session of its own, whatever connection it came by. It knows what it holds:
// every delivery that came and was neither acknowledged nor given back. Nobody else ends these deliveries, so whoever marks one as busy (consumer.claim) decides
// alone what becomes of it.
//
// Locks, in the order in which they are taken: Namespace.mu, consumer.mu. Neither is held while a method of a session is called.
package queues
