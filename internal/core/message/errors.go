package message

import "errors"

// The errors for bytes that are not a valid message. Returned errors wrap one of these and add
// details.
var (
	// ErrTruncated reports a field that extends beyond the end of its input.
	ErrTruncated = errors.New("message: truncated")
	// ErrMalformedTable reports a field table that does not follow AMQP 0-9-1 section 4.2.5.5 with
	// RabbitMQ's type letters.
	ErrMalformedTable = errors.New("message: malformed table")
	// ErrTableTooDeep reports tables and arrays nested deeper than MaxTableDepth.
	ErrTableTooDeep = errors.New("message: table nested too deep")
	// ErrMalformedProperties reports a property list whose flags and fields do not agree.
	ErrMalformedProperties = errors.New("message: malformed properties")
	// ErrMalformedEnvelope reports stored bytes that are not an Envelope.
	ErrMalformedEnvelope = errors.New("message: malformed envelope")
	// ErrUnencodable reports a Go value that a table cannot hold (Table.Validate).
	ErrUnencodable = errors.New("message: value cannot be encoded")
)
