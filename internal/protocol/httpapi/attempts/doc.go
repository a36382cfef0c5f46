// Package attempts serves RabbitMQ's paths /api/auth/attempts: it shows the numbers of logins, and
// resets them, which also ends all login delays.
package attempts
