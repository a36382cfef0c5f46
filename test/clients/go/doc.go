// Package tutorials has the six RabbitMQ tutorials, written with amqp091-go, as tests.
package tutorials
