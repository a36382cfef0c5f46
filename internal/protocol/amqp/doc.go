// Package amqp serves AMQP 0-9-1 with RabbitMQ's extensions in front of the engine. It decodes,
// calls the broker and encodes; it holds no queue logic.
//
// # A connection
//
// Two goroutines serve a connection. The reader parses all frames of one read, gathers their
// operations in a broker session and hands them over with one flush; it owns the channels and
// everything else not named below. The writer writes the gathered out buffer and is parked
// otherwise. An idle connection holds no buffers.
//
// Deliveries and confirms come from the engine's goroutines. They append whole frames to the out
// buffer (deliveries) or record the outcome of publishes (confirms, which the writer turns into as
// few frames as it can at its next write), and never wait.
//
// # Locks
//
// output.mu guards the out buffer and the part of every channel that deliveries touch: the delivery
// tag, the unacked deliveries and the consumers. conn.confirmMu guards the confirms of every
// channel. The order is confirmMu, then output.mu; neither is held while the broker is called.
//
// # Errors
//
// A fault is a reply code and a text; the code alone decides whether it closes the channel or the
// connection (amqpcode.IsHard). errors.go maps the engine's sentinels with one table.
package amqp
