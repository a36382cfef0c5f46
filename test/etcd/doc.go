// Package etcd compares the ordinary keys of the broker, their watches, leases, users and roles
// with those of a real etcd: scripts, and random sequences of several clients.
package etcd
