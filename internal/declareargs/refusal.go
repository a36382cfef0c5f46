package declareargs

import (
	"fmt"

	"fiveways.dev/fiveways/internal/core/message"
)

// Refusal describes why an argument is rejected.
type Refusal struct {
	Arg    string
	Reason string // in RabbitMQ's notation
	form   form
}

// form selects RabbitMQ's sentence for a refusal.
type form uint8

const (
	invalid       form = iota // Reason describes the invalid value
	wrongType                 // Reason is the type of a value that should be a name
	unsupported               // Reason is an unsupported queue type
	notOfType                 // Reason is a queue type that does not support this argument
	wrongProperty             // Arg is a property that a queue of this type cannot have
	tooLarge                  // the value exceeds the maximum
)

// Text formats the refusal as RabbitMQ does. resource is formatted as in its errors: "queue 'q' in
// vhost '/'".
func (r *Refusal) Text(resource string) string {
	switch r.form {
	case wrongType:
		return fmt.Sprintf("invalid type '%s' for arg '%s' in %s", r.Reason, r.Arg, resource)
	case unsupported:
		return fmt.Sprintf("unsupported queue type '%s'", r.Reason)
	case notOfType:
		return fmt.Sprintf("invalid arg '%s' for %s of queue type %s", r.Arg, resource, r.Reason)
	case wrongProperty:
		return fmt.Sprintf("invalid property '%s' for %s", r.Arg, resource)
	case tooLarge:
		return "Exceeded max value for " + r.Arg
	}
	return fmt.Sprintf("invalid arg '%s' for %s: %s", r.Arg, resource, r.Reason)
}

// Invalid returns the refusal of a value with a reason in RabbitMQ's notation.
func Invalid(arg, reason string) *Refusal { return &Refusal{Arg: arg, Reason: reason} }

// UnacceptableType returns the reason for a value of an unsupported type.
func UnacceptableType(v any) string { return "{unacceptable_type," + message.TypeName(v) + "}" }

// NotAnInteger returns the reason for a value that is not a number.
func NotAnInteger(v any) string { return `"expected integer, got ` + message.TypeName(v) + `"` }
