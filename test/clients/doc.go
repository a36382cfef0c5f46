// Package clients runs unmodified RabbitMQ clients against a broker: pika (python/), amqplib (node/) and amqp091-go
// (go/). Each has the six RabbitMQ tutorials, and pika every snippet that the project set out to support (seed_*.py).
//
// Set AMQP_URL to run the same scripts against another broker, such as RabbitMQ itself.
package clients
