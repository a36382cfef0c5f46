// Package rabbitmq starts nodes of a real RabbitMQ for comparisons and measurements, if one is
// installed.
//
// A node keeps all its data in a folder of the caller's, and has a port mapper (epmd) of its own,
// which ends with it; the system's is not used.
package rabbitmq
