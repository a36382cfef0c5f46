// Package recipes runs what etcd's client library builds upon keys, leases and watches against a
// broker, and against a real etcd where one is installed: sessions, locks, elections, software
// transactional memory, leased keys, mirrors, name spaces, ordered reads, barriers and queues.
//
// They look at details of answers (revisions of creation, the order of events, what a watch from a
// revision on tells) that scripts may miss.
package recipes
