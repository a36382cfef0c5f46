// Package arguments reads declarations in RabbitMQ's words, the arguments of queues and exchanges, into the engine's terms. Whoever declares in these
// words uses it: AMQP, the HTTP API, policies.
package arguments
