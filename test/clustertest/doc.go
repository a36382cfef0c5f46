// Package clustertest starts clusters of nodes that are processes of their own, for tests.
package clustertest
