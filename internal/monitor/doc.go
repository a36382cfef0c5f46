// Package monitor samples the counters of a node every few seconds. It remembers a minute of every
// queue, exchange, connection and channel, ten minutes of every virtual host, an hour of the node,
// and, with one sample a minute, a day of the node and of queues with jobs. It derives rates and
// histories from them in the forms of RabbitMQ's management API.
//
// A [Monitor] only reads, and nothing in the broker waits for it. The counters come from the engine
// (inspect.Sample) and from the protocols (Options.Edge).
package monitor
