// Package httpapi serves the broker's HTTP API: RabbitMQ's management paths, fields and codes for
// what it offers, and paths of its own for messages and semaphores. What paths share is in package
// rest; each package beside it is an area of the API and adds its paths with Register.
package httpapi
