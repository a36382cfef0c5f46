// Package etcdd starts real etcd servers for tests, comparisons and measurements, if etcd is
// installed.
//
// A server is a cluster of one node with its own folder and two ports of 127.0.0.1; it does not
// touch the system's etcd.
package etcdd
