// Package traces sends spans of messages to an OpenTelemetry collector: one for each message
// published to a queue, and one for each delivery, which covers the time of the message in its
// queue. Both are children of the span that the message names in its header traceparent (W3C Trace
// Context), whatever the protocols of its publisher and its consumer.
//
// An [Exporter] uses OTLP over HTTP with JSON, which collectors accept on port 4318. Adding a span
// never blocks. Spans that cannot be sent in time are dropped and counted.
package traces
