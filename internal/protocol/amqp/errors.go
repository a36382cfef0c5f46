package amqp

import (
	"errors"
	"fmt"

	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/amqperr"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/semaphores/semjson"
)

// fault is a failure as the client sees it. Its code determines the scope (amqpcode.IsHard).
type fault struct {
	code   uint16
	text   string            // the text after the name of the code
	method amqpwire.MethodID // the method that failed; 0: none
	bare   bool              // do not name the method that failed
}

// Error returns the reply text of the close method.
func (f *fault) Error() string { return amqpcode.Text(f.code, f.text) }

func faultf(code uint16, format string, args ...any) *fault {
	return &fault{code: code, text: fmt.Sprintf(format, args...)}
}

// faultRow maps one sentinel of the semaphores.
type faultRow struct {
	err  error
	code uint16
}

// faults has a row for every sentinel of the semaphores, which a test checks. It is used for
// requests in transactions; other requests get an answer instead.
var faults = []faultRow{
	{semaphores.ErrNotFound, amqpcode.NotFound},
	{semaphores.ErrNoTask, amqpcode.NotFound},
	{semaphores.ErrDeleted, amqpcode.NotFound},
	{semaphores.ErrNotEmpty, amqpcode.PreconditionFailed},
	{semaphores.ErrOrder, amqpcode.PreconditionFailed},
	{semaphores.ErrInvalid, amqpcode.PreconditionFailed},
	{semaphores.ErrTooMany, amqpcode.PreconditionFailed},
	{semaphores.ErrDiskFull, amqpcode.PreconditionFailed},
	{semaphores.ErrNotActive, amqpcode.PreconditionFailed},
}

// faultOf returns the fault that the client gets for err. An unforeseen error becomes an internal
// error without details.
func faultOf(err error) *fault {
	var f *fault
	if errors.As(err, &f) {
		return f
	}
	if code, text, ok := amqperr.Of(err); ok {
		return &fault{code: code, text: text}
	}
	for _, row := range faults {
		if errors.Is(err, row.err) {
			e := &failure.Error{Err: row.err}
			errors.As(err, &e)
			return &fault{code: row.code, text: semjson.Refuse(e).Reason}
		}
	}
	return &fault{code: amqpcode.InternalError}
}
