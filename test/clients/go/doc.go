// Package tutorials has the six RabbitMQ tutorials, written with amqp091-go, each as a test.
package tutorials
