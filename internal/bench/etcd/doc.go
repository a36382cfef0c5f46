// Package etcd benchmarks a server with etcd's API through etcd's own Go client. It uses queues as
// keys on Fiveways, plain keys in the same roles on a real etcd, and ordinary keys on both: puts,
// ranges, watches.
//
// The client uses about as much CPU as the servers do, so every result gives the CPU share of both.
package etcd
