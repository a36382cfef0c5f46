// Package attempts shows how many logins there were, as RabbitMQ's paths
// /api/auth/attempts do, and forgets them, so that nobody is held back any more.
package attempts
