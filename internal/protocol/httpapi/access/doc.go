// Package access serves users, virtual hosts and permissions as RabbitMQ's management API does, and
// /api/whoami.
package access
