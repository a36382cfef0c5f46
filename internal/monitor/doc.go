// Package monitor samples the counters of a node every few seconds and remembers them: a minute of
// every queue, exchange, connection and channel, ten minutes of every virtual host, and an hour of
// the node. From these it derives rates and histories in the forms of RabbitMQ's management API.
//
// A [Monitor] only reads; nothing in the broker waits for it. The counters are the engine's
// (inspect.Sample) and the protocols' (Options.Edge).
package monitor
