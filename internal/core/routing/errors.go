package routing

import (
	"errors"
	"fmt"
)

// The kinds of failure; match with errors.Is. An *Error or *InequivalentError has the details.
var (
	ErrNoExchange      = errors.New("routing: no such exchange")
	ErrDefaultExchange = errors.New("routing: operation not permitted on the default exchange")
	ErrReservedName    = errors.New("routing: exchange name has the reserved prefix 'amq.'")
	ErrSystemExchange  = errors.New("routing: system exchanges cannot be deleted")
	ErrUnknownType     = errors.New("routing: unknown exchange type")
	ErrInvalidArgument = errors.New("routing: invalid exchange argument")
	ErrInvalidBinding  = errors.New("routing: invalid binding")
	ErrInequivalent    = errors.New("routing: exchange is declared with other properties")
)

// Error is a refused operation. It unwraps to its kind.
type Error struct {
	Kind     error
	Exchange string
	Text     string // the text for the client, if it does not name the vhost; otherwise empty
}

func (e *Error) Error() string {
	if e.Text == "" {
		return fmt.Sprintf("%v: %q", e.Kind, e.Exchange)
	}
	return fmt.Sprintf("%v: %q: %s", e.Kind, e.Exchange, e.Text)
}

// Unwrap returns the sentinel of the failure.
func (e *Error) Unwrap() error { return e.Kind }

// InequivalentError says which property of a redeclared exchange differs. Received and Current are
// phrases for "received <Received> but current is <Current>": 'fanout', none, or the value 'x' of
// type 'longstr'.
type InequivalentError struct {
	Exchange, Arg, Received, Current string
}

func (e *InequivalentError) Error() string {
	return fmt.Sprintf("%v: %q: inequivalent arg '%s': received %s but current is %s",
		ErrInequivalent, e.Exchange, e.Arg, e.Received, e.Current)
}

// Unwrap returns ErrInequivalent.
func (e *InequivalentError) Unwrap() error { return ErrInequivalent }
