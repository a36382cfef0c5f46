// Package access serves users, virtual hosts and permissions as RabbitMQ's
// management API does, and says who calls.
package access
