// Package amqperr turns the engine's errors into RabbitMQ's reply codes and error texts, for the
// protocols that use them: AMQP and the HTTP API.
package amqperr
