// Package overview is the part of the HTTP API about the state of the node: its totals and rates,
// the node itself, connections, channels, consumers, listeners and health checks. Paths, fields and
// values are those of RabbitMQ's management API where it has them.
package overview
