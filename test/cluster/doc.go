// Package cluster tests clusters of three nodes that are processes of their own.
package cluster
