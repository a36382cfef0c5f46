// Package monitor samples the counters of a node every few seconds and remembers
// them: a minute of every queue, exchange, connection and channel, ten minutes of
// every virtual host, and an hour of the node. From that it tells rates and
// histories in the forms of RabbitMQ's management API.
//
// A [Monitor] reads; nothing of the broker waits for it. What counts is counted by
// the engine (broker.Sample) and by the protocols (Options.Edge).
package monitor
