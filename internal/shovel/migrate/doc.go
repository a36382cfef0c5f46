// Package migrate moves what a RabbitMQ holds into a broker: its definitions by the management API,
// then the messages of its queues by a shovel each, at least once. To resume is to run again:
// definitions are added to what is there, and messages that were moved are gone from the source.
package migrate
