package amqpwire

import (
	"errors"
	"fmt"
)

// The errors of a byte stream that is not valid AMQP. Match with errors.Is; errors.As gives a
// *FrameError or *UnknownMethodError with the values.
var (
	// ErrFrameTooLarge reports a frame beyond the negotiated maximum.
	ErrFrameTooLarge = errors.New("amqpwire: frame too large")
	// ErrFrameEnd reports a frame that does not end with FrameEnd.
	ErrFrameEnd = errors.New("amqpwire: invalid frame end")
	// ErrFrameType reports a frame type that the protocol does not have.
	ErrFrameType = errors.New("amqpwire: unknown frame type")
	// ErrUnknownMethod reports a class and method id that the protocol does not have.
	ErrUnknownMethod = errors.New("amqpwire: unknown method")
	// ErrMalformedMethod reports arguments that do not fit their method.
	ErrMalformedMethod = errors.New("amqpwire: malformed method")
	// ErrNotUTF8 reports a short string that is not UTF-8. The error also wraps ErrMalformedMethod.
	ErrNotUTF8 = errors.New("amqpwire: malformed UTF-8 in a short string")
	// ErrMalformedHeader reports an invalid content header.
	ErrMalformedHeader = errors.New("amqpwire: malformed content header")
	// ErrWeight reports a content header whose weight is not 0.
	ErrWeight = errors.New("amqpwire: content header with a weight")
)

// FrameError is an invalid frame. The rest of the stream cannot be parsed.
type FrameError struct {
	Kind    error  // ErrFrameTooLarge, ErrFrameEnd or ErrFrameType
	Type    uint8  // as announced
	Channel uint16 // as announced
	Size    uint32 // announced payload size in bytes
	Limit   uint32 // ErrFrameTooLarge: largest payload that fits the negotiated frame_max
	End     uint8  // ErrFrameEnd: the octet found in the place of FrameEnd
}

// Error describes the fault in words.
func (e *FrameError) Error() string {
	switch e.Kind {
	case ErrFrameTooLarge:
		return fmt.Sprintf("%v: payload of %d bytes, limit %d", e.Kind, e.Size, e.Limit)
	case ErrFrameEnd:
		return fmt.Sprintf("%v: octet %d", e.Kind, e.End)
	}
	return fmt.Sprintf("%v: %d", e.Kind, e.Type)
}

// Unwrap makes errors.Is match Kind.
func (e *FrameError) Unwrap() error { return e.Kind }

// Reason returns RabbitMQ's term for the fault, which ends its close text.
func (e *FrameError) Reason() string {
	switch e.Kind {
	case ErrFrameTooLarge:
		return fmt.Sprintf("{frame_too_large,%d,%d}", e.Size, e.Limit)
	case ErrFrameEnd:
		return fmt.Sprintf("{invalid_frame_end_marker,%d}", e.End)
	}
	return "unknown_frame"
}

// UnknownMethodError carries the ids of a method that the protocol does not have.
type UnknownMethodError struct{ ID MethodID }

// Error names the ids.
func (e *UnknownMethodError) Error() string {
	return fmt.Sprintf("%v: class %d, method %d", ErrUnknownMethod, e.ID.Class(), e.ID.Method())
}

// Unwrap makes errors.Is match ErrUnknownMethod.
func (e *UnknownMethodError) Unwrap() error { return ErrUnknownMethod }
