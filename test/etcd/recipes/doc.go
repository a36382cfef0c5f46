// Package recipes runs the recipes of etcd's client library, which are built on keys, leases and
// watches, against a broker, and against a real etcd if one is installed: sessions, locks,
// elections, software transactional memory, leased keys, mirrors, namespaces, ordered reads,
// barriers and queues.
//
// They depend on details of answers that scripts may miss: revisions of creation, the order of
// events, and what a watch returns that starts at an old revision.
package recipes
