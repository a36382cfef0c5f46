// Package rabbitmq starts nodes of a real RabbitMQ for comparisons and measurements, where one is
// installed.
//
// A node keeps all that it has in a folder of the caller's, and its port mapper (epmd) is its own:
// those of the system are neither used nor left behind.
package rabbitmq
