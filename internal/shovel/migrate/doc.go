// Package migrate moves the contents of a RabbitMQ to a broker, at least once: its definitions
// through the management API, then the messages of its queues with a shovel each. Running it again
// resumes: definitions are merged, and messages that were moved are no longer at the source.
package migrate
