// Package rabbitmq starts nodes of a real RabbitMQ for comparisons and measurements, if RabbitMQ is
// installed.
//
// A node keeps all its data in a folder of the caller's, and has its own port mapper (epmd), which
// ends with it. The system's port mapper is not used.
package rabbitmq
