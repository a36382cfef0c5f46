// Package etcdd starts real etcd servers for tests, comparisons and measurements, where etcd is
// installed.
//
// A server is a cluster of one with a folder, two ports of 127.0.0.1 and a life of its own; nothing
// of the system's etcd is touched.
package etcdd
