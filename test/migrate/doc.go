// Package migrate moves what a real RabbitMQ holds into a broker with `fiveways migrate rabbitmq`.
package migrate
