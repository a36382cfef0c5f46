// Package monitoring has the commands that show the state of a broker: connections, channels,
// consumers, listeners, the node, totals and health.
package monitoring
