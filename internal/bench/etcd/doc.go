// Package etcd loads a server that speaks the API of etcd, through etcd's own Go client: queues as
// keys where the server has them, plain keys in the same roles where it has not (a real etcd), and
// ordinary keys: puts, ranges, watches.
//
// The client costs about as much of a processor as the servers do, so every result tells the share
// of both.
package etcd
