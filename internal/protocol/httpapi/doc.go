// Package httpapi serves the broker's HTTP API: RabbitMQ's management paths, fields and codes for
// what it offers, and paths of its own for messages and semaphores. Package rest has what all paths
// share; each other package below is one area of the API and adds its paths with Register.
package httpapi
