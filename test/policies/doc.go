// Package policies tests policies on a running broker: they are set over HTTP, and an AMQP 0-9-1
// client sees the effect. They take effect at once, survive a restart and a kill, and when they are
// deleted everything is as declared. With `-rabbitmq` the same tests run on an installed RabbitMQ.
package policies
