// Package etcd compares the broker's ordinary keys, watches, leases, users and roles with those of
// a real etcd, by scripts and by random sequences of several clients.
package etcd
