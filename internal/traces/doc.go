// Package traces sends spans of messages to a collector of OpenTelemetry: one for each message that
// comes into a queue, and one for each time that it is handed out, which lasts as long as the
// message was in its queue. Both are children of the span that the message names in its header
// traceparent (W3C Trace Context), whatever the protocols of its publisher and its consumer.
//
// An [Exporter] speaks OTLP over HTTP with JSON, which every collector takes on port 4318. Spans
// are given to it without waiting; what it cannot send in time it drops, and counts.
package traces
