// Package policies plays policies to a broker in use: set over HTTP, seen by a client of AMQP
// 0-9-1. They count at once, over a restart and over a kill, and without them everything is as
// declared. With `-rabbitmq` an installed RabbitMQ is asked the same.
package policies
