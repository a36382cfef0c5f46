// Package declareargs parses the arguments of RabbitMQ's queue and exchange declarations into the
// engine's settings. AMQP, the HTTP API and policies use it.
package declareargs
