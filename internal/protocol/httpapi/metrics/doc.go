// Package metrics serves the counters of the node for Prometheus: /metrics adds
// queues, channels and connections up, /metrics/per-object tells them one by one,
// and /metrics/detailed tells of the families that it is asked for. Names that
// begin with rabbitmq_ mean what they mean in RabbitMQ, so that its boards work;
// those that begin with fiveways_ are ours.
package metrics
