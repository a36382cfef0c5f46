// Package firehose turns the events of a traced virtual host into the messages of RabbitMQ's
// firehose: event and object in the routing key, the properties of the message in headers, and its
// body as the body.
package firehose
