// Package amqpcode has the reply codes of AMQP 0-9-1 and the names of direct replies. The AMQP
// protocol uses them, and so does the HTTP API, which publishes as RabbitMQ's does and shows the
// codes in its errors.
package amqpcode

// RabbitMQ's direct reply-to: a requester gives ReplyQueue as reply-to; the queue of an answer has
// the prefix and the name of a mailbox.
const (
	ReplyQueue  = "amq.rabbitmq.reply-to"
	ReplyPrefix = ReplyQueue + "."
)

// Reply codes (constants of the specification).
const (
	Success            uint16 = 200
	ContentTooLarge    uint16 = 311
	NoRoute            uint16 = 312
	NoConsumers        uint16 = 313
	ConnectionForced   uint16 = 320
	InvalidPath        uint16 = 402
	AccessRefused      uint16 = 403
	NotFound           uint16 = 404
	ResourceLocked     uint16 = 405
	PreconditionFailed uint16 = 406
	FrameError         uint16 = 501
	SyntaxError        uint16 = 502
	CommandInvalid     uint16 = 503
	ChannelError       uint16 = 504
	UnexpectedFrame    uint16 = 505
	ResourceError      uint16 = 506
	NotAllowed         uint16 = 530
	NotImplemented     uint16 = 540
	InternalError      uint16 = 541
)

var names = map[uint16]string{
	Success:            "REPLY_SUCCESS",
	ContentTooLarge:    "CONTENT_TOO_LARGE",
	NoRoute:            "NO_ROUTE",
	NoConsumers:        "NO_CONSUMERS",
	ConnectionForced:   "CONNECTION_FORCED",
	InvalidPath:        "INVALID_PATH",
	AccessRefused:      "ACCESS_REFUSED",
	NotFound:           "NOT_FOUND",
	ResourceLocked:     "RESOURCE_LOCKED",
	PreconditionFailed: "PRECONDITION_FAILED",
	FrameError:         "FRAME_ERROR",
	SyntaxError:        "SYNTAX_ERROR",
	CommandInvalid:     "COMMAND_INVALID",
	ChannelError:       "CHANNEL_ERROR",
	UnexpectedFrame:    "UNEXPECTED_FRAME",
	ResourceError:      "RESOURCE_ERROR",
	NotAllowed:         "NOT_ALLOWED",
	NotImplemented:     "NOT_IMPLEMENTED",
	InternalError:      "INTERNAL_ERROR",
}

// Name is the name of a reply code as it stands in front of close texts, such as NOT_FOUND, or ""
// for a code that is not one.
func Name(code uint16) string { return names[code] }

// Text is the text that goes with a code: its name, and what there is to say.
func Text(code uint16, about string) string {
	if about == "" {
		return Name(code)
	}
	return Name(code) + " - " + about
}

// IsHard reports whether a code closes the connection, wherever it was raised; the soft codes close
// one channel.
func IsHard(code uint16) bool {
	switch code {
	case ContentTooLarge, NoRoute, NoConsumers, AccessRefused, NotFound, ResourceLocked, PreconditionFailed:
		return false
	}
	return true
}
