// Package attempts shows the numbers of logins, as RabbitMQ's paths /api/auth/attempts do, and
// resets them, which ends all login delays.
package attempts
