// Package refusals words the engine's errors as RabbitMQ does, for all who speak
// its words: AMQP and the HTTP API.
package refusals
