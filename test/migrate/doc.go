// Package migrate tests `fiveways migrate rabbitmq`: it moves the contents of a real RabbitMQ to a
// broker.
package migrate
