package declareargs

import (
	"fmt"

	"fiveways.dev/fiveways/internal/core/message"
)

// Refusal says why an argument is refused.
type Refusal struct {
	Arg    string
	Reason string // in RabbitMQ's notation
	form   form
}

// form is the sentence that RabbitMQ makes of a refusal.
type form uint8

const (
	invalid       form = iota // Reason says what is wrong with the value
	wrongType                 // Reason is the type of a value that should be a name
	unsupported               // Reason is a type of queue that is not there
	notOfType                 // Reason is a type of queue that does not have this argument
	wrongProperty             // Arg is a property that a queue of its type cannot have
	tooLarge                  // the value is above what is possible
)

// Text words the refusal as RabbitMQ does, for a resource as its errors name it: "queue 'q' in
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

// Invalid refuses the value of an argument for a reason in RabbitMQ's notation.
func Invalid(arg, reason string) *Refusal { return &Refusal{Arg: arg, Reason: reason} }

// UnacceptableType is the reason for refusing a value of a type that the argument cannot have.
func UnacceptableType(v any) string { return "{unacceptable_type," + message.TypeName(v) + "}" }

// NotAnInteger is the reason for refusing what should be a number.
func NotAnInteger(v any) string { return `"expected integer, got ` + message.TypeName(v) + `"` }
