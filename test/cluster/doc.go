// Package cluster tests clusters of three nodes, each of which is a process.
package cluster
