// Package clustertest starts clusters for tests. Each node is a process.
package clustertest
