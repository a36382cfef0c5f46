// Package amqpwire is the codec of AMQP 0-9-1 with RabbitMQ's extensions: frames, methods and
// content headers, as bytes and as Go values.
//
// It does no I/O and keeps no state. A reader that owns a buffer calls [ParseFrame] until it
// reports that bytes are missing, then [DecodeMethod] or, on the hot path, [SplitMethod] and the
// Decode of one method type. A writer appends: every Append function adds to the slice it is given
// and returns it.
//
// Decoded values may alias the payload where the documentation of their type says so
// ([BasicPublish], [BasicDeliver], the property list of [ParseContentHeader]); everything else is
// copied. Decoding is strict: a method whose arguments are too short or too long is an error.
// Reserved arguments are read and ignored, and written as zero.
package amqpwire
