// Package amqp serves AMQP 0-9-1 with RabbitMQ's extensions. It decodes, calls the broker and
// encodes; it holds no queue logic.
//
// # A connection
//
// Two goroutines serve a connection. The reader parses all frames of one read, collects their
// operations in a broker session and flushes the session once; it owns the channels and everything
// else that is not listed below. The writer writes the out buffer and waits while it is empty. An
// idle connection holds no buffers.
//
// Deliveries and confirms come from the engine's goroutines, which never wait here. A delivery is
// appended to the out buffer as whole frames. A confirm only records the outcome of its publish;
// the writer turns the recorded outcomes into as few frames as possible at its next write.
//
// # Locks
//
// output.mu guards the out buffer and the part of every channel that deliveries touch: the delivery
// tag, the unacked deliveries and the consumers. conn.confirmMu guards the confirms of every
// channel. The order is confirmMu, then output.mu; neither is held while the broker is called.
//
// # Errors
//
// An AMQP error is a reply code and a text; the code alone decides whether it closes the channel or
// the connection (amqpcode.IsHard). errors.go maps the engine's sentinels with one table.
package amqp
