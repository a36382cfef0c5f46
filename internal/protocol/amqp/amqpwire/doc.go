// Package amqpwire is the codec of AMQP 0-9-1 with RabbitMQ's extensions: frames, methods and
// content headers, as bytes and as Go values.
//
// It does no I/O and keeps no state. A reader that owns a buffer calls [ParseFrame] until it
// reports that bytes are missing, then [DecodeMethod] or, on the hot path, [SplitMethod] and the
// Decode of one method type. A writer appends: every Append function adds to the slice it is given
// and returns it.
//
// What the decoders return may alias the payload where the documentation of a type says so
// ([BasicPublish], [BasicDeliver], the property list of [ParseContentHeader]); everything else is
// copied. Decoding is strict: arguments that are short, or longer than the method's, are an error.
// Reserved arguments are read and dropped, and written as zero.
package amqpwire
