// Package metrics serves the counters of the node for Prometheus: /metrics aggregates queues,
// channels and connections, /metrics/per-object has them one by one, and /metrics/detailed only the
// requested families. Names with the prefix rabbitmq_ have the same meaning as in RabbitMQ, so that
// its dashboards work; those with fiveways_ are our own.
package metrics
